"""Webhooks: the endpoints that hear of events, and every delivery to them."""

from dashboard.webhooks import bulk, delivery_views, secret_views, switch_views
from dashboard.webhooks.views import bp

__all__ = ["bp", "bulk", "delivery_views", "secret_views", "switch_views"]
