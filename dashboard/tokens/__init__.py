"""API tokens: which producers may call."""

from dashboard.tokens.views import bp

__all__ = ["bp"]
