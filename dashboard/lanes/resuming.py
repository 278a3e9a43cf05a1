"""Resuming a paused lane with a plan for what is overdue."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.holds.choosing import MINUTES_USUAL, chosen
from dashboard.security import actor
from dashboard.web import render
from tasks import registry
from tasks.claims import backlog_of
from tasks.db import set_scope
from tasks.errors import InvalidInput, NotFound, UnknownLane
from tasks.holds.lanes import EXECUTIONS, PLANS, overdue, resume_with
from tasks.lane import COUNT_CAP
from tasks.models import Execution, ScheduledJob, new_id
from tasks.operations.releasing import MINUTES_MAX
from tasks.saying import say


def ask(
    name: str,
    now: datetime,
    operation_id: UUID | None = None,
    refused: InvalidInput | None = None,
) -> str:
    """Say what is overdue, and ask what is to become of it."""
    try:
        lane = registry.lane(name)
    except UnknownLane:
        raise NotFound("unknown_lane", say("There is no such lane.")) from None
    session = db.session()
    set_scope(session, g.allowed)  # a lane works for every congregation
    told = overdue(session, name, now)
    model = Execution if name == EXECUTIONS else ScheduledJob
    n = backlog_of(session, model, now).n_due if told.is_partial else told.n_looked
    return render(
        "lanes/resume.html",
        lane=lane,
        n=n,
        outlook=told,
        plans=PLANS[name],
        errors={refused.field: refused.message} if refused else {},
        given=request.form,
        high_water=now.isoformat(),
        operation_id=operation_id or new_id(),
        cap=COUNT_CAP,
        minutes_usual=MINUTES_USUAL,
        minutes_max=MINUTES_MAX,
    )


def resume(name: str, now: datetime) -> ResponseReturnValue:
    """Resume as was chosen."""
    session = db.session()
    set_scope(session, g.allowed)
    try:
        operation = resume_with(session, name, chosen(), actor(), now=now)
    except InvalidInput as refused:
        session.rollback()
        if refused.field in ("plan", "minutes"):
            return ask(name, now, refused=refused), 422
        flash(refused.message, "warning")
        return redirect(url_for("lanes.detail", name=name), 303)
    db.session.commit()
    if operation is None:
        flash(say("Resumed. It takes up what is due."), "success")
        return redirect(url_for("lanes.detail", name=name), 303)
    flash(say("The lane goes on as soon as this is done."), "success")
    return redirect(url_for("operations.detail", operation_id=operation.id), 303)
