"""Notifications: what waits to leave, the mails, and what each recipient wants."""

from dashboard.notifications import bulk as bulk
from dashboard.notifications import recipient_views as recipient_views
from dashboard.notifications.views import bp

__all__ = ["bp"]
