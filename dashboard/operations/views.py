"""Operations: what was asked of many rows, how far it is, and stopping it."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.operations import queries
from dashboard.operations.forms import OperationFilter
from dashboard.operations.progress import came_of_it, progress
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.lane import COUNT_CAP
from tasks.operations import steering
from tasks.operations.single import Answer
from tasks.saying import say

bp = Blueprint("operations", __name__, url_prefix="/operations")


@bp.get("/")
@explains("operations")
def index() -> str:
    """List what was asked of many rows, newest first."""
    session, form = db.session(), OperationFilter.read(request.args)
    limit = current_app.config["CARILLON"].page_size
    cursor = request.args.get("cursor")
    statement = queries.listed(session, actor(), form, utcnow())
    page = queries.page(session, statement, cursor, limit)
    return render("operations/list.html", page=page, form=form, cap=COUNT_CAP)


@bp.get("/<uuid:operation_id>")
def detail(operation_id: UUID) -> str:
    """Show one operation: how far it is, and what was skipped and why."""
    session = db.session()
    line = queries.detail(session, operation_id, actor())
    return render(
        "operations/detail.html",
        fragment="operations/_progress.html",
        line=line,
        meant=queries.asked_for(session, line),
        progress=progress,
        came_of_it=came_of_it,
        cap=COUNT_CAP,
    )


@bp.post("/<uuid:operation_id>/stop")
def stop(operation_id: UUID) -> ResponseReturnValue:
    """Stop an operation behind the piece under way."""
    return _answer(
        operation_id,
        steering.stop,
        say("Stopped. What was done stays done; it can be resumed."),
        say("It was stopped already."),
    )


@bp.post("/<uuid:operation_id>/resume")
def resume(operation_id: UUID) -> ResponseReturnValue:
    """Let an operation go on where it was."""
    return _answer(
        operation_id,
        steering.resume,
        say("Resumed behind the last row that was done."),
        say("It goes on already."),
    )


def _answer(
    operation_id: UUID, verb: steering.Verb, done: str, already: str
) -> ResponseReturnValue:
    session = db.session()
    try:
        answer = verb(session, operation_id, actor(), now=utcnow())
    except Conflict as refused:
        session.rollback()
        flash(refused.message, "warning")
    else:
        is_done = answer is Answer.DONE
        flash(done if is_done else already, "success" if is_done else "info")
        session.commit()
    return redirect(url_for(".detail", operation_id=operation_id), 303)
