"""The console's first page."""

from __future__ import annotations

from datetime import datetime

from flask import Blueprint, current_app, url_for

from dashboard.extensions import db
from dashboard.failures import pictures
from dashboard.lane_titles import lane_title
from dashboard.overview import ahead, lists, queries
from dashboard.saved_views.counting import alarming
from dashboard.security import current_operator
from dashboard.web import render
from tasks.clock import utcnow

bp = Blueprint("overview", __name__)


@bp.get("/")
def index() -> str:
    """Answer three questions: what needs me, what comes next, what just happened."""
    session, now, operator = db.session(), utcnow(), current_operator()
    config = current_app.config["CARILLON"]
    needs = queries.needs(session, now=now, views=alarming(session, operator))
    return render(
        "overview/index.html",
        fragment="overview/_live.html",
        steps=queries.first_steps(session),
        needs=needs,
        # It is told where there is nothing worse to tell.
        n_succeeded=queries.n_succeeded(session, now=now) if needs.is_calm else 0,
        coming=lists.coming(session),
        recent=lists.recent(session),
        plans=ahead.campaigns(session, now=now),
        dailies=ahead.dailies(config, now=now),
        base_url=config.base_url,
        failed_url=_failed_url,
        lane_title=lane_title,
        line_url=_line_url,
        bars=pictures.bars,
        in_words=pictures.sentence,
        height=pictures.HEIGHT,
    )


def _failed_url(since: datetime) -> str:
    """Return the list of exactly those failures that the tile counts."""
    return url_for("executions.index", state="failed", since=since.isoformat())


def _line_url(line: lists.Line) -> str:
    match line.kind:
        case "event":
            return url_for("events.detail", event_id=line.id)
        case "execution":
            return url_for("executions.detail", execution_id=line.id)
        case "job":
            return url_for("scheduled.detail", job_id=line.id)
