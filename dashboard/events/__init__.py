"""The events: what happened, and what every rule made of it."""

from dashboard.events import bulk
from dashboard.events.views import bp

__all__ = ["bp", "bulk"]
