"""The overview: what needs me, what comes next, what just happened."""

from dashboard.overview.views import bp

__all__ = ["bp"]
