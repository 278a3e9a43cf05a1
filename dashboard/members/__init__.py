"""Members: the list, one of them, and what operators do to it."""

from dashboard.members import deed_views, editing
from dashboard.members.views import bp

__all__ = ["bp", "deed_views", "editing"]
