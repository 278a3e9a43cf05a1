"""The filter with which pages tell errors that rows keep in English."""

from __future__ import annotations

from flask import Flask

from tasks.told import told

__all__ = ["told"]


def init_app(app: Flask) -> None:
    """Let templates tell errors: ``{{ row.error | told }}``."""
    app.jinja_env.filters["told"] = told
