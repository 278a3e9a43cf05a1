"""Members who left: when they are forgotten, who has to stay, and what was done."""

from dashboard.retention.views import bp

__all__ = ["bp"]
