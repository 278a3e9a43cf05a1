"""Executions: what rules did, what went wrong, and trying it again."""

from dashboard.executions import bulk, editing
from dashboard.executions.views import bp

__all__ = ["bp", "bulk", "editing"]
