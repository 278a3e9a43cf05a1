"""What operators say about themselves."""

from dashboard.account.views import bp

__all__ = ["bp"]
