"""Lateness budgets: set on the pages of rules and lanes."""

from dashboard.budgets.views import bp

__all__ = ["bp"]
