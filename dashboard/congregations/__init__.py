"""Congregations, their podcasts and bookings."""

from dashboard.congregations import podcast_views  # its routes join bp
from dashboard.congregations.views import bp

__all__ = ["bp", "podcast_views"]
