"""Retrying many executions: asked first, with the number and what does not happen."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.executions.forms import ExecutionFilter
from dashboard.executions.views import bp
from dashboard.extensions import db
from dashboard.filtering import NO_CHOICES
from dashboard.filters import number
from dashboard.security import actor, require
from dashboard.selection import confirmed_at, nothing_selected, selected
from dashboard.web import render
from tasks.clock import utcnow
from tasks.operations.bulk import BULK_MAX, Bulk
from tasks.operations.executions import (
    count_retryable,
    count_selected,
    retry_many,
    retry_matching,
)


@bp.post("/retry")
def retry_selected() -> ResponseReturnValue:
    """Ask about, then queue, the executions that were ticked."""
    session, ids = db.session(), selected()
    form = ExecutionFilter.read(NO_CHOICES)
    if not ids:
        return nothing_selected(url_for(".index", **form.query()))
    if "confirmed" not in request.form:
        return _ask(form, count_selected(session, ids), ids=ids)
    bulk = retry_many(session, ids, actor(), now=utcnow())
    return _done(form, bulk)


@bp.get("/retry-all")
@require("operator")
def ask_retry_all() -> ResponseReturnValue:
    """Say how many executions match, and ask whether to queue them."""
    session, now = db.session(), utcnow()
    form = ExecutionFilter.read(NO_CHOICES)
    n = count_retryable(session, form.matching(session, now), now)
    return _ask(form, n, high_water=now.isoformat())


@bp.post("/retry-all")
def retry_all() -> ResponseReturnValue:
    """Queue the failed executions that match the filter."""
    session, now = db.session(), utcnow()
    form = ExecutionFilter.read(NO_CHOICES)
    matching = form.matching(session, now)
    bulk = retry_matching(session, matching, confirmed_at(), actor(), now=now)
    return _done(form, bulk)


def _ask(form: ExecutionFilter, n: int, **asked: list[UUID] | str) -> str:
    return render(
        "executions/retry.html",
        n=n,
        cap=BULK_MAX,
        form=form,
        ids=asked.get("ids"),
        high_water=asked.get("high_water"),
    )


def _done(form: ExecutionFilter, bulk: Bulk) -> ResponseReturnValue:
    db.session.commit()
    sentence = f"{number(bulk.n_done)} queued for another try."
    if bulk.n_skipped:
        sentence += f" {number(bulk.n_skipped)} skipped: not failed any more."
    flash(sentence, "success" if bulk.n_done else "info")
    return redirect(url_for(".index", **form.query()), 303)
