"""What operators call an event, instead of the type under which it is kept."""

from __future__ import annotations

from flask import Flask

from tasks.automation.triggers import TRIGGERS
from tasks.saying import say


def event_title(kind: str) -> str:
    """Return what operators call an event; one that no trigger knows keeps its word.

    >>> event_title("booking.confirmed"), event_title("choir.met")
    ('Booking confirmed', 'choir.met')
    """
    return say(TRIGGERS[kind].title) if kind in TRIGGERS else kind


def init_app(app: Flask) -> None:
    """Let templates call events so: ``{{ event_title(event.type) }}``."""
    app.jinja_env.globals["event_title"] = event_title
