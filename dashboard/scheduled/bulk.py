"""Cancelling many scheduled jobs: asked first, with the number and what stays."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filtering import NO_CHOICES
from dashboard.filters import number
from dashboard.scheduled.forms import JobFilter
from dashboard.scheduled.views import bp
from dashboard.security import actor, require
from dashboard.selection import confirmed_at, nothing_selected, selected
from dashboard.web import render
from tasks.clock import utcnow
from tasks.operations.bulk import BULK_MAX, Bulk
from tasks.operations.scheduled_jobs import (
    cancel_many,
    cancel_matching,
    count_cancellable,
    count_selected,
)


@bp.post("/cancel")
def cancel_selected() -> ResponseReturnValue:
    """Ask about, then cancel, the jobs that were ticked."""
    session, ids = db.session(), selected()
    form = JobFilter.read(NO_CHOICES)
    if not ids:
        return nothing_selected(url_for(".index", **form.query()))
    if "confirmed" not in request.form:
        return _ask(form, count_selected(session, ids), ids=ids)
    bulk = cancel_many(session, ids, actor(), now=utcnow())
    return _done(form, bulk)


@bp.get("/cancel-all")
@require("operator")
def ask_cancel_all() -> ResponseReturnValue:
    """Say how many jobs match, and ask whether to cancel them."""
    session, now = db.session(), utcnow()
    form = JobFilter.read(NO_CHOICES)
    n = count_cancellable(session, form.matching(session, now), now)
    return _ask(form, n, high_water=now.isoformat())


@bp.post("/cancel-all")
def cancel_all() -> ResponseReturnValue:
    """Cancel the waiting jobs that match the filter."""
    session, now = db.session(), utcnow()
    form = JobFilter.read(NO_CHOICES)
    matching = form.matching(session, now)
    bulk = cancel_matching(session, matching, confirmed_at(), actor(), now=now)
    return _done(form, bulk)


def _ask(form: JobFilter, n: int, **asked: list[UUID] | str) -> str:
    return render(
        "scheduled/cancel.html",
        n=n,
        cap=BULK_MAX,
        form=form,
        ids=asked.get("ids"),
        high_water=asked.get("high_water"),
    )


def _done(form: JobFilter, bulk: Bulk) -> ResponseReturnValue:
    db.session.commit()
    sentence = f"{number(bulk.n_done)} cancelled; they will not happen."
    if bulk.n_skipped:
        sentence += f" {number(bulk.n_skipped)} skipped: they did not wait any more."
    flash(sentence, "success" if bulk.n_done else "info")
    return redirect(url_for(".index", **form.query()), 303)
