"""Lanes: what runs, what waits, and the switches."""

from dashboard.lanes import run_views as run_views
from dashboard.lanes.views import bp

__all__ = ["bp"]
