"""Holds: stopping what leaves the house, and letting it go with a plan."""

from dashboard.holds import volume_views  # noqa: F401  # it adds its pages to bp
from dashboard.holds.views import bp

__all__ = ["bp"]
