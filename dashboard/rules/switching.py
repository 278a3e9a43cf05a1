"""Switching a rule on, with a plan for what is overdue."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.holds.choosing import MINUTES_USUAL, chosen
from dashboard.rules import queries
from dashboard.security import actor
from dashboard.web import render
from tasks.errors import InvalidInput
from tasks.holds.plans import Plan
from tasks.holds.rules import enable_with, overdue_of
from tasks.lane import COUNT_CAP
from tasks.models import new_id
from tasks.operations.releasing import MINUTES_MAX
from tasks.operations.rule_rows import RuleSaved, find_rule
from tasks.operations.rule_switches import enable_rule
from tasks.saying import say

_PLANS = (Plan.SEND, Plan.SPREAD, Plan.DROP)


def enable(rule_id: UUID, now: datetime) -> RuleSaved | ResponseReturnValue:
    """Switch a rule on; returns what was saved, or the question that comes first."""
    session, coming = db.session(), request.args.get("coming")
    if "operation" in request.form:
        return _with_plan(rule_id, now)
    is_off = not find_rule(session, rule_id).enabled
    if is_off and overdue_of(session, rule_id, now)[0]:
        target = url_for("rules.ask_switch_on", rule_id=rule_id, coming=coming)
        return redirect(target, 303)
    return enable_rule(session, rule_id, actor(), now=now, also_coming=coming == "1")


def ask(rule_id: UUID, now: datetime, problem: InvalidInput | None = None) -> str:
    """Say what is overdue, and ask what is to become of it."""
    session = db.session()
    rule = queries.living(session, rule_id)
    n, told = overdue_of(session, rule_id, now)
    return render(
        "rules/switch_on.html",
        rule=rule,
        n=n,
        outlook=told,
        plans=_PLANS,
        errors={problem.field: problem.message} if problem else {},
        given=request.form,
        coming=request.args.get("coming"),
        high_water=now.isoformat(),
        operation_id=new_id(),
        cap=COUNT_CAP,
        minutes_usual=MINUTES_USUAL,
        minutes_max=MINUTES_MAX,
    )


def _with_plan(rule_id: UUID, now: datetime) -> RuleSaved | ResponseReturnValue:
    """Switch a rule on as was chosen; returns what was saved, or where to go."""
    also = request.args.get("coming") == "1"
    try:
        done = enable_with(
            db.session(), rule_id, chosen(), actor(), now=now, also_coming=also
        )
    except InvalidInput as problem:
        if problem.field not in ("plan", "minutes"):
            raise
        db.session.rollback()
        return ask(rule_id, now, problem), 422
    if done.operation is None and done.saved is not None:
        return done.saved
    db.session.commit()
    if done.saved is None:
        flash(say("The rule is switched on as soon as this is done."), "success")
    operation_id = done.operation.id if done.operation else None
    return redirect(url_for("operations.detail", operation_id=operation_id), 303)
