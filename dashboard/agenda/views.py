"""The agenda's one page: a week of hours, and the list of what comes."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import Final
from uuid import UUID

from flask import Blueprint, current_app, request

from dashboard.agenda import queries
from dashboard.agenda.week import Week
from dashboard.extensions import db
from dashboard.overview.ahead import hours_of_day
from dashboard.web import render
from dashboard.zones import own_zone
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.saying import say
from tasks.saying.formats import dated

bp: Final = Blueprint("agenda", __name__, url_prefix="/agenda")


@bp.get("/")
def index() -> str:
    """Show what fires in the hours and days to come, of all rules or of one."""
    session, now = db.session(), utcnow()
    config = current_app.config["CARILLON"]
    week = Week.asked(request.args.get("week"), now, own_zone())
    rule_id = _rule_id(request.args.get("rule"))
    volume = queries.volume(session, week, rule_id, now)
    marks = defaultdict(list)
    if rule_id is None:
        for on, name, id_, is_start in queries.campaigns(session, week):
            marks[on].append((name, id_, is_start))
    return render(
        "agenda/index.html",
        week=week,
        today=week.day_of(now),
        days=week.days(volume.hours, volume.counted_until, now),
        volume=volume,
        cap=COUNT_CAP,
        marks=marks,
        feeds={} if rule_id else queries.feeds(session, week, now),
        rules=queries.rules(session),
        rule_id=rule_id,
        page=queries.page(
            session, week, rule_id, now, request.args.get("cursor"), config.page_size
        ),
        daily=hours_of_day(config),
        day_name=_day_name,
    )


def _day_name(on: date) -> str:
    return dated(on, "EEE d MMM")


def _rule_id(text: str | None) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        told = say("The rule in this address must be a rule's id.")
        raise InvalidInput("bad_filter", told, field="rule") from error
