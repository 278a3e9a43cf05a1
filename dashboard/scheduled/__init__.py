"""Scheduled jobs: what happens next, and calling it off."""

from dashboard.scheduled import bulk
from dashboard.scheduled.views import bp

__all__ = ["bp", "bulk"]
