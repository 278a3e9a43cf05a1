"""The agenda: what is to come, hour by hour and day by day."""

from dashboard.agenda.views import bp

__all__ = ["bp"]
