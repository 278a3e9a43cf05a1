"""Sweeps that a scheduler outside asks for."""

from dashboard.cron.views import bp

__all__ = ["bp"]
