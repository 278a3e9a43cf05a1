"""Congregations, their podcasts, and the pages of bookings, episodes and guests."""

from dashboard.congregations import podcast_views, record_views  # routes join bp
from dashboard.congregations.views import bp

__all__ = ["bp", "podcast_views", "record_views"]
