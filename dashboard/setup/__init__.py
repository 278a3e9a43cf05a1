"""The page behind a link that works once."""

from dashboard.setup.views import bp

__all__ = ["bp"]
