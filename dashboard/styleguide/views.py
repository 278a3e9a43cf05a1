"""The page of the styleguide: for admins, on installations for development."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from flask import Blueprint, abort, current_app

from dashboard.paging import Page
from dashboard.security import require
from dashboard.states import LOOKS
from dashboard.styleguide.forms import sample_form
from dashboard.web import render
from tasks.clock import utcnow
from tasks.config import Config

bp = Blueprint("styleguide", __name__, url_prefix="/styleguide")

#: The tones, and the other meanings that colours have; ``static/css/tokens.css``.
_TONES: Final = ("waiting", "active", "good", "warn", "bad", "quiet")
_AWAY: Final = (
    timedelta(),
    timedelta(minutes=-3),
    timedelta(hours=2, minutes=10),
    timedelta(days=-90),
)
_SPANS: Final = (timedelta(milliseconds=250), timedelta(seconds=95), timedelta(days=3))
_TREE: Final = {
    "guest": {"name": "Aurélie Fontaine", "email": None},
    "attempt": 2,
    "tags": ["choir", "easter"],
}


@bp.get("/")
@require("admin")
def index() -> str:
    """Show every component in every state."""
    config: Config = current_app.config["CARILLON"]
    if config.is_production:
        abort(404)
    now = utcnow()
    return render(
        "styleguide/index.html",
        states=LOOKS,
        tones=_TONES,
        form=sample_form(),
        moments=[now + away for away in _AWAY],
        spans=_SPANS,
        tree_value=_TREE,
        page=Page((), "next", "previous"),
    )
