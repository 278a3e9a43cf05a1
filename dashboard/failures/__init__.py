"""Failures by cause: read, acknowledged and retried as groups."""

from dashboard.failures.views import bp

__all__ = ["bp"]
