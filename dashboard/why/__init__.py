"""Why did this not fire?  The engine's own answers, for any record and any rule."""

from dashboard.why.views import bp

__all__ = ["bp"]
