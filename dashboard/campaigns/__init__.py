"""Campaigns: the year, one of them, and what its start and end do."""

import dashboard.campaigns.editing as editing  # its pages join the blueprint
from dashboard.campaigns.views import bp

__all__ = ["bp", "editing"]
