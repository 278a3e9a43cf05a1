"""The page of one podcast."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import request

from dashboard.congregations import podcast_queries, queries
from dashboard.congregations.podcast_queries import When
from dashboard.congregations.views import bp, page_size
from dashboard.extensions import db
from dashboard.web import render
from tasks.automation.zone_moves import is_moving
from tasks.clock import utcnow
from tasks.saying.formats import dated

#: How a wall clock is told, in the signs of CLDR.
_PATTERN: Final = "EEE d MMM y, HH:mm"


@bp.get("/<slug>/podcasts/<podcast_id>")
def podcast(slug: str, podcast_id: str) -> str:
    """Show a podcast: its bookings, the rules that listen to it, its episodes."""
    session = db.session()
    congregation = queries.congregation(session, slug)
    found = queries.podcast(session, congregation.id, podcast_id)
    when: When = "past" if request.args.get("when") == "past" else "coming"
    return render(
        "congregations/podcast.html",
        congregation=congregation,
        podcast=found,
        when=when,
        bookings=podcast_queries.bookings(
            session,
            found,
            when,
            request.args.get("cursor"),
            limit=page_size(),
            now=utcnow(),
        ),
        rules=podcast_queries.rules(session, found),
        episodes=podcast_queries.episodes(session, found),
        side_list=podcast_queries.SIDE_LIST,
        local=wall_clock,
        is_moving=is_moving(session, congregation.id, found.id),
    )


def wall_clock(moment: datetime, timezone: str) -> str:
    """Return what clocks show there; in UTC where nobody knows the timezone.

    >>> from datetime import UTC
    >>> wall_clock(datetime(2026, 3, 10, 12, 0, tzinfo=UTC), "Europe/Paris")
    'Tue 10 Mar 2026, 13:00'
    """
    try:
        there = moment.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError):
        return f"{dated(moment, _PATTERN)} UTC"
    return dated(there, _PATTERN)
