"""Holds: stopping what leaves the house, and letting it go with a plan."""

from dashboard.holds.views import bp

__all__ = ["bp"]
