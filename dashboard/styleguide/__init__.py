"""The styleguide: every component in every state, drawn by the macros of the pages."""

from dashboard.styleguide.views import bp

__all__ = ["bp"]
