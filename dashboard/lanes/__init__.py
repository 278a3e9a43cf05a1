"""Lanes: what runs, what waits, and the switches."""

from dashboard.lanes.views import bp

__all__ = ["bp"]
