"""Every lane on one page, and one page a lane with its switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, abort, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.budgets import queries as budgets
from dashboard.charts import panel, series
from dashboard.charts.lanes import COUNTED
from dashboard.extensions import db
from dashboard.lanes import outcomes, queries, resuming
from dashboard.lanes.forms import WorkersForm
from dashboard.lanes.pausing import consequences
from dashboard.security import actor, current_operator, require
from dashboard.web import is_htmx, render
from tasks import registry
from tasks.clock import utcnow
from tasks.errors import Conflict, NotFound, UnknownLane
from tasks.holds.lanes import PLANS
from tasks.lane import Lane
from tasks.operations import lanes
from tasks.saying import say

bp = Blueprint("lanes", __name__, url_prefix="/lanes")
bp.record_once(outcomes.give)


@bp.get("/")
def index() -> str:
    """List every lane of the registry."""
    return render(
        "lanes/index.html",
        fragment="lanes/_rows.html",
        views=_views(registry.LANES),
    )


@bp.get("/<name>")
def detail(name: str) -> str:
    """Show one lane: what it does, how it stands, its last runs."""
    lane = _lane(name)
    return _page(lane, WorkersForm.of(lane))


@bp.post("/<name>/pause")
def pause(name: str) -> ResponseReturnValue:
    """Let the lane claim nothing new."""
    _must_see_all()
    if lanes.pause_lane(db.session(), name, actor(), now=utcnow()):
        flash(say("Paused. What it holds already is finished; nothing new is taken."))
    else:
        flash(say("It was paused already."), "info")
    db.session.commit()
    return redirect(url_for(".detail", name=name), 303)


@bp.get("/<name>/resume")
@require("operator")
def ask_resume(name: str) -> str:
    """Say what is overdue, and ask what is to become of it."""
    _must_see_all()
    return resuming.ask(name, utcnow())


@bp.post("/<name>/resume")
def resume(name: str) -> ResponseReturnValue:
    """Let the lane work again, with a plan if one was chosen."""
    _must_see_all()
    if "operation" in request.form:
        return resuming.resume(name, utcnow())
    if lanes.resume_lane(db.session(), name, actor(), now=utcnow()):
        flash(say("Resumed. It takes up what is due."), "success")
    else:
        flash(say("It was not paused."), "info")
    db.session.commit()
    return redirect(url_for(".detail", name=name), 303)


@bp.post("/<name>/workers")
def workers(name: str) -> ResponseReturnValue:
    """Say how many workers the lane has."""
    _must_see_all()
    lane = _lane(name)
    form = WorkersForm.of(lane)
    if not form.validate_on_submit():
        return _page(lane, form), 422
    chosen = form.workers.data
    if lanes.set_workers(db.session(), name, chosen, actor(), now=utcnow()):
        flash(say("Saved. Running workers follow within seconds."), "success")
    db.session.commit()
    return redirect(url_for(".detail", name=name), 303)


@bp.post("/<name>/sweep")
def sweep(name: str) -> ResponseReturnValue:
    """Ask for one sweep now."""
    try:
        lanes.sweep_now(db.session(), name, actor(), now=utcnow())
    except Conflict as refused:
        db.session.rollback()
        flash(refused.message, "warning")
    else:
        db.session.commit()
        flash(say("Asked for. The result appears in the runs below."), "success")
    return redirect(url_for(".detail", name=name), 303)


def _page(lane: Lane, form: WorkersForm) -> str:
    session = db.session()
    (view,) = _views([lane])
    if not form.is_submitted() and view.setting is not None:
        form.workers.data = view.setting.workers
    return render(
        "lanes/detail.html",
        fragment="lanes/_live.html",
        view=view,
        form=form,
        heartbeats=queries.heartbeats(session, lane.name),
        page=queries.runs(session, lane.name, request.args.get("cursor")),
        sees_all=current_operator().sees_all,
        pause_means=consequences(session, view, utcnow()),
        has_plans=lane.name in PLANS,
        **_charts(lane),
    )


def _charts(lane: Lane) -> dict[str, Any]:
    if is_htmx():
        return {}
    session, now, period = db.session(), utcnow(), panel.asked_period()
    drawn = panel.values(series.of_lane(session, lane.name, period, now))
    counts = COUNTED[lane.name]
    budget = {} if counts.never_waits else budgets.of_lane(session, lane.name, now)
    return {**drawn, **budget, "counts": counts}


def _views(lanes: Sequence[Lane]) -> list[queries.LaneView]:
    config = current_app.config["CARILLON"]
    return queries.lane_views(db.session(), lanes, config, now=utcnow())


def _lane(name: str) -> Lane:
    try:
        return registry.lane(name)
    except UnknownLane:
        raise NotFound("unknown_lane", say("There is no such lane.")) from None


def _must_see_all() -> None:
    if not current_operator().sees_all:
        abort(
            403,
            say(
                "A lane works for every congregation, so only operators of all "
                "congregations may pause or resize it."
            ),
        )
