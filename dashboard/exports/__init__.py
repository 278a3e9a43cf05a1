"""Exports: any filtered list as a file."""

from dashboard.exports.views import bp

__all__ = ["bp"]
