"""Territories: the list, one of them, and who works on it."""

from dashboard.territories import editing, working
from dashboard.territories.views import bp

__all__ = ["bp", "editing", "working"]
