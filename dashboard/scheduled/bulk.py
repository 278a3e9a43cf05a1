"""Cancelling many scheduled jobs: asked about first, with the number."""

from __future__ import annotations

from flask import url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filtering import NO_CHOICES
from dashboard.operations.asking import Question, ask, begin, ticked
from dashboard.scheduled.forms import JobFilter
from dashboard.scheduled.views import bp
from dashboard.security import require
from tasks.clock import utcnow
from tasks.models import OperationKind
from tasks.saying import say


def _question() -> Question:
    form = JobFilter.read(NO_CHOICES)
    matching = form.matching(db.session(), utcnow()).as_json()
    back = url_for(".index", **form.query())
    return Question(OperationKind.CANCEL_JOBS, back, say("Scheduled"), matching)


@bp.post("/cancel")
def cancel_selected() -> ResponseReturnValue:
    """Ask about, then cancel, the jobs that were ticked."""
    return ticked(_question())


@bp.get("/cancel-all")
@require("operator")
def ask_cancel_all() -> str:
    """Say how many waiting jobs match, and ask whether to cancel them."""
    return ask(_question())


@bp.post("/cancel-all")
def cancel_all() -> ResponseReturnValue:
    """Cancel the waiting jobs that match the filter."""
    return begin(_question())
