"""Why something waits: told on its own page, and in a word in lists."""

from dashboard.waiting.views import bp

__all__ = ["bp"]
