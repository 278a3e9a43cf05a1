"""Saved views: filters under a name, for oneself or for all."""

from dashboard.saved_views.views import bp

__all__ = ["bp"]
