"""The pages of engagements: the list, one of them, and what operators do to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from dashboard.extensions import db
from dashboard.outreach import queries
from dashboard.outreach.filters import EngagementFilter
from dashboard.outreach.offers import offers
from dashboard.outreach.story import PASSED, SHOWN_MAX, story
from dashboard.outreach.tabs import TABS
from dashboard.search.views import explains
from dashboard.security import actor, may
from dashboard.web import render
from tasks.clock import utcnow
from tasks.models import Engagement
from tasks.operations.audit import Actor
from tasks.outreach import deeds
from tasks.outreach.finding import Wanted
from tasks.outreach.looking import get_engagement
from tasks.saying import say

bp: Final = Blueprint("outreach", __name__, url_prefix="/outreach")

_Deed = Callable[[Session, Engagement, Actor, datetime], object]


@bp.get("/")
@explains("engagements")
def index() -> str:
    """List the engagements of a tab."""
    form, now = EngagementFilter.read(request.args), utcnow()
    limit = current_app.config["CARILLON"].page_size
    page = queries.listed(
        db.session(),
        Wanted(),
        request.args.get("cursor"),
        limit,
        conditions=form.wanted(now),
        order=form.open.order,
    )
    return render(
        "outreach/list.html",
        page=page,
        form=form,
        tabs=TABS,
        offers=offers(db.session(), form, page, now) if may("operator") else [],
    )


@bp.get("/<uuid:engagement_id>")
def detail(engagement_id: UUID) -> str:
    """Show an engagement and what happened to it."""
    found = queries.engagement(db.session(), engagement_id)
    return render(
        "outreach/detail.html",
        one=found,
        row=found.row,
        moments=story(db.session(), found.row),
        shown_max=SHOWN_MAX,
        passed=PASSED,
    )


@bp.post("/<uuid:engagement_id>/wake")
def wake(engagement_id: UUID) -> ResponseReturnValue:
    """Schedule an engagement for now."""
    return _do(
        engagement_id,
        deeds.wake_now,
        say("Scheduled for now: the agent is woken at once."),
    )


@bp.post("/<uuid:engagement_id>/stop")
def stop(engagement_id: UUID) -> ResponseReturnValue:
    """Take the schedule away."""
    return _do(
        engagement_id, deeds.stop, say("Stopped: nothing wakes the agent for it.")
    )


@bp.post("/<uuid:engagement_id>/pause")
def pause(engagement_id: UUID) -> ResponseReturnValue:
    """Announce nothing of an engagement until it is resumed."""
    return _do(engagement_id, deeds.pause, say("Paused: what comes due passes."))


@bp.post("/<uuid:engagement_id>/resume")
def resume(engagement_id: UUID) -> ResponseReturnValue:
    """Announce an engagement again."""
    return _do(
        engagement_id,
        deeds.resume,
        say("Resumed. What came due meanwhile stays passed."),
    )


@bp.post("/<uuid:engagement_id>/try-again")
def try_again(engagement_id: UUID) -> ResponseReturnValue:
    """Let the lane look once more at what was set aside."""
    return _do(engagement_id, deeds.try_again, say("It is looked at again at once."))


@bp.post("/<uuid:engagement_id>/remove")
def remove(engagement_id: UUID) -> ResponseReturnValue:
    """Remove an engagement; contact and suppressions stay."""
    row = get_engagement(db.session(), engagement_id)
    address = row.address
    deeds.remove(db.session(), row, actor())
    db.session.commit()
    flash(
        say(
            "The engagement with %(address)s is removed; the contact stays.",
            address=address,
        ),
        "success",
    )
    return redirect(url_for(".index"), 303)


def _do(engagement_id: UUID, deed: _Deed, sentence: str) -> ResponseReturnValue:
    row = get_engagement(db.session(), engagement_id)
    deed(db.session(), row, actor(), utcnow())
    db.session.commit()
    flash(sentence, "success")
    return redirect(url_for(".detail", engagement_id=engagement_id), 303)
