"""Campaigns: the year, one of them, and what its start and end do."""

from dashboard.campaigns import editing
from dashboard.campaigns.views import bp

__all__ = ["bp", "editing"]
