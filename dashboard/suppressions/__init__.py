"""Suppressions: the addresses that get no mails."""

from dashboard.suppressions.views import bp

__all__ = ["bp"]
