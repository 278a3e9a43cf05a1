"""Groups: the list, one of them, and who belongs to it."""

from dashboard.groups import belonging
from dashboard.groups.views import bp

__all__ = ["belonging", "bp"]
