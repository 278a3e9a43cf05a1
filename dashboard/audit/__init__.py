"""The audit log: who did what."""

from dashboard.audit.views import bp

__all__ = ["bp"]
