"""Holds: what is kept in the house now, keeping more, letting it go."""

from __future__ import annotations

import time
from datetime import datetime
from uuid import UUID

from flask import (
    Blueprint,
    abort,
    current_app,
    flash,
    g,
    redirect,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.holds import queries
from dashboard.holds.banner import give
from dashboard.holds.choosing import MINUTES_USUAL, chosen
from dashboard.holds.filters import HoldFilter
from dashboard.holds.forms import HoldForm
from dashboard.search.views import explains
from dashboard.security import actor, current_operator, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.db import set_scope
from tasks.errors import InvalidInput, NotFound
from tasks.executing.running import FRESH_SECONDS
from tasks.holds.finding import find
from tasks.holds.plans import Plan, lift_with
from tasks.holds.setting import hold as set_hold
from tasks.lane import COUNT_CAP
from tasks.models import Hold, new_id
from tasks.operations.releasing import MINUTES_MAX
from tasks.saying import say

bp = Blueprint("holds", __name__, url_prefix="/holds")
bp.record_once(give)


@bp.get("/")
@explains("holds")
def index() -> str:
    """List what is held now, and below it the holds that have ended."""
    session, now = db.session(), utcnow()
    form, cursor = HoldFilter.read(request.args), request.args.get("cursor")
    limit = current_app.config["CARILLON"].page_size
    return render(
        "holds/list.html",
        lines=queries.active_lines(session, now),
        page=queries.page(session, form.conditions(now), now, cursor, limit),
        form=form,
    )


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new hold, of a rule if the address names one."""
    form = HoldForm(rule_id=request.args.get("rule", ""))
    return _form(form, _offered(form))


@bp.post("/")
def create() -> ResponseReturnValue:
    """Keep what is meant in the house."""
    form, now = HoldForm(), utcnow()
    session, rule = db.session(), _offered(form)
    if not form.validate_on_submit():
        return _form(form, rule), 422
    if form.what.congregation_id is None and form.rule is None:
        _see_all()
    try:
        row = set_hold(
            session,
            form.what,
            form.why.data or "",
            actor(),
            until=form.until(now),
            now=now,
        )
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _form(form, rule), 422
    db.session.commit()
    # What was looked at before begins within this time, or is looked at anew.
    time.sleep(FRESH_SECONDS)
    flash(say("Held. From now on nothing of it leaves."), "success")
    return redirect(url_for(".detail", hold_id=row.id), 303)


@bp.get("/<uuid:hold_id>")
def detail(hold_id: UUID) -> str:
    """Show one hold: who, why, until when, what waits, and how to let it go."""
    return _page(find(db.session(), hold_id), utcnow(), new_id())


@bp.post("/<uuid:hold_id>/lift")
def lift(hold_id: UUID) -> ResponseReturnValue:
    """End a hold; what waited is sent, spread or dropped."""
    session, now = db.session(), utcnow()
    row = find(session, hold_id)
    if row.congregation_id is None:
        _see_all()
    try:
        plan = chosen()
        operation = lift_with(session, hold_id, plan, actor(), now=now)
    except NotFound:
        raise
    except InvalidInput as refused:
        session.rollback()
        again = find(session, hold_id)
        return _page(again, now, new_id(), refused), 422
    db.session.commit()
    flash(say("Lifted. Nothing is held by it any more."), "success")
    if operation is None:
        return redirect(url_for(".index"), 303)
    return redirect(url_for("operations.detail", operation_id=operation.id), 303)


def _page(
    row: Hold, now: datetime, operation_id: UUID, refused: InvalidInput | None = None
) -> str:
    session = db.session()
    line = queries.detail(session, row)
    holds = line.holds(now)
    return render(
        "holds/detail.html",
        line=line,
        holds=holds,
        waiting=queries.waiting(session, row, now) if holds else None,
        sees_it=current_operator().sees_all or row.congregation_id is not None,
        high_water=now.isoformat(),
        operation_id=operation_id,
        errors={refused.field: refused.message} if refused else {},
        given=request.form,
        cap=COUNT_CAP,
        minutes_usual=MINUTES_USUAL,
        minutes_max=MINUTES_MAX,
        plans=list(Plan),
    )


def _offered(form: HoldForm) -> str | None:
    """Fill the form's choices; return the name of the rule that is meant, if any."""
    session = db.session()
    rule = queries.rule_named(session, form.rule) if form.rule else None
    if form.rule and rule is None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    form.offer(
        queries.congregations(session),
        everywhere=current_operator().sees_all,
        of_rule=rule is not None,
    )
    return rule.name if rule else None


def _form(form: HoldForm, rule: str | None) -> str:
    return render("holds/form.html", form=form, rule=rule)


def _see_all() -> None:
    """Let the request see every congregation, also those that the choice hides."""
    if not current_operator().sees_all:
        abort(
            403,
            say(
                "It holds what leaves for every congregation, so only operators of all "
                "congregations may set or lift it."
            ),
        )
    set_scope(db.session(), g.allowed)
