"""The rules: listed, written in a form that adapts, tried on a real booking."""

from dashboard.rules import editor, files, planning, trying, versions
from dashboard.rules.views import bp

__all__ = ["bp", "editor", "files", "planning", "trying", "versions"]
