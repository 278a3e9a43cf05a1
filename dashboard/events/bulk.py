"""Replaying events, one or all that match: asked about first, with the number."""

from __future__ import annotations

from uuid import UUID

from flask import request, url_for
from flask.typing import ResponseReturnValue

from dashboard.events import queries
from dashboard.events.forms import EventFilterForm
from dashboard.events.views import bp
from dashboard.extensions import db
from dashboard.operations.asking import Question, ask, begin
from dashboard.rules.scope import places
from dashboard.security import require
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.models import OperationKind
from tasks.saying import say


def _question() -> Question:
    form = EventFilterForm.of(request.args, places(db.session()))
    wanted = form.wanted(utcnow())
    unread = [*form.errors]
    if form.podcast.data and wanted.congregation_id is None:
        unread.append("podcast")
    if unread:  # acting on a filter that was half understood would be worse
        raise InvalidInput(
            "bad_filter",
            say(
                "The filter in this address cannot be read: “%(field)s” is wrong.",
                field=unread[0],
            ),
        )
    back = url_for(".index", **form.query())
    matching = wanted.as_json()
    return Question(OperationKind.REPLAY_EVENTS, back, say("Events"), matching)


def _question_of(event_id: UUID) -> Question:
    queries.event(db.session(), event_id)  # or it is not found
    back = url_for(".detail", event_id=event_id)
    matching = {"ids": [str(event_id)]}
    return Question(OperationKind.REPLAY_EVENTS, back, say("Events"), matching)


@bp.get("/replay-all")
@require("operator")
def ask_replay_all() -> str:
    """Say how many events match, and ask whether to replay them."""
    return ask(_question())


@bp.post("/replay-all")
def replay_all() -> ResponseReturnValue:
    """Replay the events that match the filter."""
    return begin(_question())


@bp.get("/<uuid:event_id>/replay")
@require("operator")
def ask_replay(event_id: UUID) -> str:
    """Say what a replay of one event does, and ask for it."""
    return ask(_question_of(event_id))


@bp.post("/<uuid:event_id>/replay")
def replay(event_id: UUID) -> ResponseReturnValue:
    """Let the rules look at one event once more."""
    return begin(_question_of(event_id))
