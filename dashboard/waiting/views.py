"""The part of a page that says why its row waits, also asked for alone."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from flask import Blueprint, current_app, g, render_template
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from dashboard.extensions import db
from dashboard.security import actor
from dashboard.waiting import evidence
from dashboard.waiting.reasons import Answer
from dashboard.waiting.standing import Standings, standings
from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import (
    Delivery,
    DigestMail,
    Execution,
    Notification,
    Operation,
    ScheduledJob,
    Sync,
    Transfer,
)
from tasks.operations.seeing import seen_by
from tasks.saying import say

bp = Blueprint("waiting", __name__, url_prefix="/waiting")

#: The words of addresses -> what they name.
_MODELS: Final[dict[str, type[Any]]] = {
    "execution": Execution,
    "job": ScheduledJob,
    "delivery": Delivery,
    "mail": DigestMail,
    "notification": Notification,
    "operation": Operation,
    "sync": Sync,
    "transfer": Transfer,
}
_WORDS: Final = {model: word for word, model in _MODELS.items()}


@bp.get(f"/<any({', '.join(_MODELS)}):kind>/<uuid:row_id>")
def why(kind: str, row_id: UUID) -> ResponseReturnValue:
    """Return why a row waits, as a part of its page."""
    model = _MODELS[kind]
    wanted = select(model).where(model.id == row_id)
    if model is Operation:  # one of several congregations is nobody's in particular
        wanted = wanted.where(seen_by(db.session(), actor()))
    row = db.session().scalars(wanted).first()
    if row is None:
        raise NotFound("unknown_row", say("There is nothing with this id."))
    return render_template("waiting/_why.html", waiting_row=row)


def why_waiting(row: evidence.Waiting) -> Answer | None:
    """Return why a row waits; None: it does not."""
    if row.state not in evidence.WAITS:
        return None
    return evidence.answer(db.session(), row, _standings(), utcnow())


def waiting_word(row: evidence.Waiting) -> str:
    """Return in a few words why a row waits; empty: for its own time, or not at all."""
    if row.state not in evidence.WAITS:
        return ""
    return evidence.word(row, _standings(), utcnow())


def waiting_kind(row: evidence.Waiting) -> str:
    """Return the word of a row's kind, for the address of this part."""
    return _WORDS[type(row)]


def _standings() -> Standings:
    """Return how the lanes stand; read once for a page."""
    if "standings" not in g:
        config = current_app.config["CARILLON"]
        g.standings = standings(db.session(), config, utcnow())
    found: Standings = g.standings
    return found


def _give(state: BlueprintSetupState) -> None:
    state.app.jinja_env.globals.update(
        why_waiting=why_waiting,
        waiting_word=waiting_word,
        waiting_kind=waiting_kind,
    )


bp.record_once(_give)
