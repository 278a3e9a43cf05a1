"""Retrying, cancelling and replaying executions: asked about first, with the number."""

from __future__ import annotations

from uuid import UUID

from flask import url_for
from flask.typing import ResponseReturnValue

from dashboard.executions.forms import ExecutionFilter
from dashboard.executions.queries import must_exist
from dashboard.executions.views import bp
from dashboard.extensions import db
from dashboard.filtering import NO_CHOICES
from dashboard.operations.asking import Question, ask, begin, ticked
from dashboard.security import require
from tasks.clock import utcnow
from tasks.models import OperationKind
from tasks.saying import say


def _question(kind: OperationKind) -> Question:
    form = ExecutionFilter.read(NO_CHOICES)
    matching = form.matching(db.session(), utcnow()).as_json()
    return Question(
        kind, url_for(".index", **form.query()), say("Executions"), matching
    )


def _question_of(execution_id: UUID) -> Question:
    must_exist(db.session(), execution_id)
    back = url_for(".detail", execution_id=execution_id)
    matching = {"ids": [str(execution_id)]}
    return Question(OperationKind.REPLAY_EXECUTIONS, back, say("Executions"), matching)


@bp.post("/retry")
def retry_selected() -> ResponseReturnValue:
    """Ask about, then queue, the executions that were ticked."""
    return ticked(_question(OperationKind.RETRY_EXECUTIONS))


@bp.get("/retry-all")
@require("operator")
def ask_retry_all() -> str:
    """Say how many failed executions match, and ask whether to queue them."""
    return ask(_question(OperationKind.RETRY_EXECUTIONS))


@bp.post("/retry-all")
def retry_all() -> ResponseReturnValue:
    """Queue the failed executions that match the filter."""
    return begin(_question(OperationKind.RETRY_EXECUTIONS))


@bp.get("/cancel-all")
@require("operator")
def ask_cancel_all() -> str:
    """Say how many waiting executions match, and ask whether to cancel them."""
    return ask(_question(OperationKind.CANCEL_EXECUTIONS))


@bp.post("/cancel-all")
def cancel_all() -> ResponseReturnValue:
    """Cancel the waiting executions that match the filter."""
    return begin(_question(OperationKind.CANCEL_EXECUTIONS))


@bp.get("/replay-all")
@require("operator")
def ask_replay_all() -> str:
    """Say how many executions that ended match, and ask whether to replay them."""
    return ask(_question(OperationKind.REPLAY_EXECUTIONS))


@bp.post("/replay-all")
def replay_all() -> ResponseReturnValue:
    """Replay the executions that match the filter."""
    return begin(_question(OperationKind.REPLAY_EXECUTIONS))


@bp.get("/<uuid:execution_id>/replay")
@require("operator")
def ask_replay(execution_id: UUID) -> str:
    """Say what a replay of one execution does, and ask for it."""
    return ask(_question_of(execution_id))


@bp.post("/<uuid:execution_id>/replay")
def replay(execution_id: UUID) -> ResponseReturnValue:
    """Replay one execution."""
    return begin(_question_of(execution_id))
