"""The agenda's one page: a week of hours, and the list of what comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

from flask import Blueprint, current_app, request

from dashboard.agenda import queries
from dashboard.agenda.week import YEARS, Week
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
_ENDS: Final = ("since", "until")
_SPAN_MAX: Final = timedelta(days=1)


@bp.get("/")
def index() -> str:
    """Show what fires in the hours and days to come, of all rules or of one."""
    session, now = db.session(), utcnow()
    config = current_app.config["CARILLON"]
    week = Week.asked(request.args.get("week"), now, own_zone())
    rule_id = _rule_id(request.args.get("rule"))
    volume = queries.volume(session, week, rule_id, now)
    hours = _hours(request.args)
    marks = defaultdict(list)
    if rule_id is None:
        for on, name, id_, is_start in queries.campaigns(session, week):
            marks[on].append((name, id_, is_start))
    return render(
        "agenda/index.html",
        week=week,
        years=YEARS,
        today=week.day_of(now),
        is_over=week.is_over(now),
        days=week.days(volume.hours, volume.counted_until, now),
        volume=volume,
        cap=COUNT_CAP,
        marks=marks,
        feeds={} if rule_id else queries.feeds(session, week, now),
        rules=queries.rules(session),
        rule_id=rule_id,
        hours=hours,
        n_besides=volume.n_besides(hours) if hours else 0,
        page=queries.page(
            session,
            hours or (week.start, week.end),
            rule_id,
            now,
            request.args.get("cursor"),
            config.page_size,
        ),
        daily=hours_of_day(config),
        day_name=_day_name,
    )


def _day_name(on: date) -> str:
    return dated(on, "EEE d MMM")


def _hours(args: Mapping[str, str]) -> queries.Span | None:
    """Return the hours of the grid whose jobs are listed alone; None: the whole week.

    By when jobs run, as the grid counts them: the list of scheduled jobs goes by when
    they are due, which quiet hours put off.
    """
    if "since" not in args and "until" not in args:
        return None
    try:
        since, until = (datetime.fromisoformat(args[name]) for name in _ENDS)
        is_known = since.tzinfo is not None and since.year in YEARS
        if is_known and timedelta(0) < until - since <= _SPAN_MAX:
            return since.astimezone(UTC), until.astimezone(UTC)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise _bad_hours() from error
    raise _bad_hours()


def _bad_hours() -> InvalidInput:
    told = say(
        "The hours in this address must begin and end with a time such as "
        "2026-03-10T12:00+00:00, at most a day apart."
    )
    return InvalidInput("bad_hours", told, field="since")


def _rule_id(text: str | None) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        told = say("The rule in this address must be a rule's id.")
        raise InvalidInput("bad_filter", told, field="rule") from error
