"""Scheduled jobs: the list, and one job with its buttons."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, request
from flask.typing import ResponseReturnValue

from dashboard.back import back
from dashboard.extensions import db
from dashboard.filtering import NO_CHOICES, choices
from dashboard.scheduled import queries
from dashboard.scheduled.forms import JobFilter
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.watching import asked, is_unchanged, watch
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.operations.scheduled_jobs import cancel_job
from tasks.operations.scheduled_jobs import run_now as let_run_now
from tasks.operations.single import Answer
from tasks.operations.undoing_job_cancel import undo_cancel_job
from tasks.saying import say
from tasks.search.conditions import SEARCH_WINDOW

bp = Blueprint("scheduled", __name__, url_prefix="/scheduled")


@bp.get("/")
@explains("scheduled")
def index() -> str:
    """List what is to come, soonest first; the query string narrows the list."""
    session, now = db.session(), utcnow()
    form = JobFilter.read(choices(session))
    matching = form.listed(session, now)
    limit = current_app.config["CARILLON"].page_size
    page = queries.page(session, matching, request.args.get("cursor"), limit)
    return render(
        "scheduled/list.html",
        fragment="scheduled/_list.html",
        form=form,
        page=page,
        counts=queries.counts(session, matching, page.rows),
        watch=watch(".live", page.rows, form.query(), now=now),
        window=SEARCH_WINDOW,
    )


@bp.get("/live")
def live() -> str:
    """Return the rows that look different by now, and what to ask for next."""
    session, now = db.session(), utcnow()
    form = JobFilter.read(NO_CHOICES)
    versions = asked(request.args.getlist("row"))
    lines = queries.by_ids(session, list(versions))
    changed = [line for line in lines if line.version != versions[line.job.id]]
    matching = form.listed(session, now)
    return render(
        "scheduled/_live.html",
        form=form,
        changed=changed,
        counts=queries.counts(session, matching) if changed else None,
        watch=watch(".live", lines, form.query(), now=now),
    )


@bp.get("/<uuid:job_id>")
def detail(job_id: UUID) -> ResponseReturnValue:
    """Show one job: when it is due, why it ended, what came of it."""
    found = queries.detail(db.session(), job_id)
    if is_unchanged(found.line):
        return "", 204
    return render(
        "scheduled/detail.html", fragment="scheduled/_detail.html", detail=found
    )


@bp.post("/<uuid:job_id>/cancel")
def cancel(job_id: UUID) -> ResponseReturnValue:
    """Cancel a job that waits."""
    try:
        answer = cancel_job(db.session(), job_id, actor(), now=utcnow())
    except Conflict as refused:
        return _refused(refused, job_id)
    if answer is Answer.DONE:
        flash(
            say("Cancelled. It will not happen; Undo is on its page for 10 minutes."),
            "success",
        )
    else:
        flash(say("It was cancelled already."), "info")
    db.session.commit()
    return back(".detail", job_id=job_id)


@bp.post("/<uuid:job_id>/run-now")
def run_now(job_id: UUID) -> ResponseReturnValue:
    """Let a job's time be now."""
    try:
        answer = let_run_now(db.session(), job_id, actor(), now=utcnow())
    except Conflict as refused:
        return _refused(refused, job_id)
    if answer is Answer.DONE:
        flash(
            say("Its time is now: it becomes an execution within seconds."), "success"
        )
    else:
        flash(say("Its time has come already; a worker takes it next."), "info")
    db.session.commit()
    return back(".detail", job_id=job_id)


@bp.post("/<uuid:job_id>/undo")
def undo(job_id: UUID) -> ResponseReturnValue:
    """Take back that a job was cancelled."""
    try:
        waits = undo_cancel_job(db.session(), job_id, actor(), now=utcnow())
    except Conflict as refused:
        return _refused(refused, job_id)
    db.session.commit()
    if waits:
        flash(say("It waits again."), "success")
    else:
        flash(say("Its date has changed meanwhile: it is planned anew."), "info")
    return back(".detail", job_id=job_id)


def _refused(refused: Conflict, job_id: UUID) -> ResponseReturnValue:
    db.session.rollback()
    flash(refused.message, "warning")
    return back(".detail", job_id=job_id)
