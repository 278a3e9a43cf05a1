"""Sources: bookings, episodes and guests that come without a line of code."""

from dashboard.sources import feed_views, guest_views
from dashboard.sources.views import bp

__all__ = ["bp", "feed_views", "guest_views"]
