"""Executions: the list, and one execution with its buttons."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from flask import Blueprint, Response, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.back import back
from dashboard.executions import queries
from dashboard.executions.forms import ExecutionFilter
from dashboard.executions.lines import Line
from dashboard.extensions import db
from dashboard.filtering import NO_CHOICES, choices
from dashboard.mail_frame import mail_frame
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.watching import Watch, asked, is_unchanged, watch
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models import ExecutionState
from tasks.operations.allowing import allow_and_retry as allow_retry
from tasks.operations.executions import cancel_execution, retry_execution
from tasks.operations.single import Answer
from tasks.operations.undoing_cancel import undo_cancel
from tasks.saying import say
from tasks.search.conditions import SEARCH_WINDOW

bp = Blueprint("executions", __name__, url_prefix="/executions")


@bp.get("/")
@explains("executions")
def index() -> str:
    """List executions; the query string narrows the list."""
    session, now = db.session(), utcnow()
    form = ExecutionFilter.read(choices(session))
    matching = form.listed(session, now)
    limit = current_app.config["CARILLON"].page_size
    page = queries.page(session, matching, request.args.get("cursor"), limit)
    return render(
        "executions/list.html",
        fragment="executions/_list.html",
        form=form,
        page=page,
        counts=queries.counts(session, matching, page.rows),
        watch=_watch(page.rows, form, now, _newest(page.rows, form, now)),
        n_new=0,
        window=SEARCH_WINDOW,
    )


@bp.get("/live")
def live() -> str:
    """Return the rows that look different by now, and what to ask for next."""
    session, now = db.session(), utcnow()
    form = ExecutionFilter.read(NO_CHOICES)
    matching = form.listed(session, now)
    versions = asked(request.args.getlist("row"))
    lines = queries.by_ids(session, list(versions))
    changed = [line for line in lines if line.version != versions[line.execution.id]]
    # What runs says for how long, so it looks different every time.
    rows = [line for line in lines if line in changed or line.is_running]
    newest = form.newest.data
    return render(
        "executions/_live.html",
        form=form,
        rows=rows,
        counts=queries.counts(session, matching) if changed else None,
        watch=_watch(lines, form, now, newest),
        n_new=queries.n_newer(session, matching, newest) if newest else 0,
    )


@bp.get("/<uuid:execution_id>")
def detail(execution_id: UUID) -> ResponseReturnValue:
    """Show one execution: what it did, try by try."""
    found = queries.detail(db.session(), execution_id)
    if is_unchanged(found.line):
        return "", 204
    return render(
        "executions/detail.html",
        fragment="executions/_detail.html",
        detail=found,
    )


@bp.get("/<uuid:execution_id>/html")
def html(execution_id: UUID) -> Response:
    """Return the mail's HTML for the frame on the execution's page."""
    return mail_frame(queries.html_of(db.session(), execution_id))


@bp.post("/<uuid:execution_id>/retry")
def retry(execution_id: UUID) -> ResponseReturnValue:
    """Queue a failed execution again; ask first where it may have arrived."""
    if "sure" not in request.args and queries.may_have_left(db.session(), execution_id):
        flash(
            say(
                "The answer to its last try was lost, so it may have arrived. Press "
                "Retry here if it is to go out all the same."
            ),
            "warning",
        )
        return redirect(url_for(".detail", execution_id=execution_id), 303)
    try:
        answer = retry_execution(db.session(), execution_id, actor(), now=utcnow())
    except Conflict as refused:
        return _refused(refused, execution_id)
    if answer is Answer.DONE:
        flash(say("Queued for another try."), "success")
    else:
        flash(say("It is queued already."), "info")
    db.session.commit()
    return back(".detail", execution_id=execution_id)


@bp.post("/<uuid:execution_id>/allow-and-retry")
def allow_and_retry(execution_id: UUID) -> ResponseReturnValue:
    """Let the recipient have mails again, and queue this one once more."""
    session, now = db.session(), utcnow()
    try:
        done = allow_retry(session, execution_id, actor(), now=now)
    except Conflict as refused:
        return _refused(refused, execution_id)
    session.commit()
    if done.answer is Answer.DONE:
        told = say(
            "%(address)s gets mails again, and this one is queued for another try.",
            address=done.address,
        )
        flash(told, "success")
    else:
        flash(say("It is queued already."), "info")
    return redirect(url_for(".detail", execution_id=execution_id), 303)


@bp.post("/<uuid:execution_id>/cancel")
def cancel(execution_id: UUID) -> ResponseReturnValue:
    """Cancel an execution that has not begun."""
    try:
        answer = cancel_execution(db.session(), execution_id, actor(), now=utcnow())
    except Conflict as refused:
        return _refused(refused, execution_id)
    if answer is Answer.DONE:
        flash(
            say(
                "Cancelled. Nothing is sent for it; Undo is on its page for 10 minutes."
            ),
            "success",
        )
    else:
        flash(say("It was cancelled already."), "info")
    db.session.commit()
    return back(".detail", execution_id=execution_id)


@bp.post("/<uuid:execution_id>/undo")
def undo(execution_id: UUID) -> ResponseReturnValue:
    """Take back that an execution was cancelled."""
    try:
        undo_cancel(db.session(), execution_id, actor(), now=utcnow())
    except Conflict as refused:
        return _refused(refused, execution_id)
    db.session.commit()
    flash(say("It waits again."), "success")
    return back(".detail", execution_id=execution_id)


def _refused(refused: Conflict, execution_id: UUID) -> ResponseReturnValue:
    db.session.rollback()
    flash(refused.message, "warning")
    return back(".detail", execution_id=execution_id)


def _newest(
    lines: Sequence[Line], form: ExecutionFilter, now: datetime
) -> datetime | None:
    """Return when the newest row was made; None: the page does not begin with it."""
    if "cursor" in request.args or form.state.data == ExecutionState.PENDING:
        return None
    return lines[0].execution.created_at if lines else now


def _watch(
    lines: Sequence[Line],
    form: ExecutionFilter,
    now: datetime,
    newest: datetime | None,
) -> Watch | None:
    return watch(".live", lines, form.query(), now=now, newest=newest)
