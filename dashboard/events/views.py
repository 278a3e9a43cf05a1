"""The events: read only; what happened is never changed."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, request

from dashboard.amounts import as_many
from dashboard.event_titles import event_title
from dashboard.events import queries
from dashboard.events.forms import EventFilterForm
from dashboard.events.told import named, names_told
from dashboard.events.verdicts import silence, verdicts
from dashboard.extensions import db
from dashboard.rules.scope import places
from dashboard.search.views import explains
from dashboard.security import may
from dashboard.web import render
from dashboard.webhooks.told import listens, told_of
from tasks.automation.triggers import TRIGGERS
from tasks.clock import utcnow
from tasks.config import Config
from tasks.lane import COUNT_CAP

bp = Blueprint("events", __name__, url_prefix="/events")


@bp.get("/")
@explains("events")
def index() -> str:
    """List what happened, newest first."""
    session = db.session()
    config: Config = current_app.config["CARILLON"]
    form = EventFilterForm.of(request.args, places(session))
    now = utcnow()
    wanted = form.wanted(now)
    page = queries.events(session, wanted, request.args.get("cursor"), config.page_size)
    n_replayed = 0
    if page.rows and not wanted.is_empty and may("operator"):
        n_replayed = queries.n_replayed(session, wanted, page, now)
    return render(
        "events/list.html",
        form=form,
        is_filtered=not wanted.is_empty,
        page=page,
        n_replayed=n_replayed,
        n_told=as_many(n_replayed),
        cap=COUNT_CAP,
        asked=queries.asked(session, [row.event.id for row in page.rows]),
        nobody=queries.Asked(),
        told=names_told(session, [row.event for row in page.rows]),
        triggers=TRIGGERS,
    )


@bp.get("/<uuid:event_id>")
def detail(event_id: UUID) -> str:
    """Show an event and what every rule made of it, the no as well as the yes."""
    session = db.session()
    config: Config = current_app.config["CARILLON"]
    row = queries.event(session, event_id)
    cursor = request.args.get("cursor")
    data = queries.data(session, event_id)
    return render(
        "events/detail.html",
        row=row,
        event=row.event,
        title=event_title(row.event.type),
        data=data,
        about_own=named(row.event, data),
        asked=queries.asked(session, [event_id]).get(event_id, queries.Asked()),
        page=verdicts(session, event_id, cursor, config.page_size),
        told=told_of(session, event_id),
        listens=listens(session, row.event.congregation_id),
        silence=silence(session, row.event),
        cap=COUNT_CAP,
    )
