"""The search of every list: reading it, completing it, and saying what it takes."""

from dashboard.search.views import bp

__all__ = ["bp"]
