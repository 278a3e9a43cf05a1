"""Where booking services call; each call is signed, so nobody logs in here."""

from dashboard.hooks.views import bp

__all__ = ["bp"]
