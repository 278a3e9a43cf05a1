"""The events: read only; what happened is never changed."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, request

from dashboard.events import queries
from dashboard.events.forms import EventFilterForm
from dashboard.extensions import db
from dashboard.rules.scope import places
from dashboard.web import render
from tasks.automation.triggers import TRIGGERS
from tasks.config import Config
from tasks.models import DecisionOutcome

bp = Blueprint("events", __name__, url_prefix="/events")


@bp.get("/")
def index() -> str:
    """List what happened, newest first."""
    session = db.session()
    config: Config = current_app.config["CARILLON"]
    form = EventFilterForm.of(request.args, places(session))
    wanted = form.wanted()
    page = queries.events(session, wanted, request.args.get("cursor"), config.page_size)
    return render(
        "events/list.html",
        form=form,
        is_filtered=not wanted.is_empty,
        page=page,
        asked=queries.asked(session, [row.event.id for row in page.rows]),
        nobody=queries.Asked(),
        triggers=TRIGGERS,
    )


@bp.get("/<uuid:event_id>")
def detail(event_id: UUID) -> str:
    """Show an event and what every rule made of it, the no as well as the yes."""
    session = db.session()
    row = queries.event(session, event_id)
    decisions = queries.decisions(session, event_id)
    return render(
        "events/detail.html",
        row=row,
        event=row.event,
        title=TRIGGERS[row.event.type].title
        if row.event.type in TRIGGERS
        else row.event.type,
        data=queries.data(session, event_id),
        decisions=decisions,
        n_fired=sum(one.outcome is DecisionOutcome.FIRED for one, _ in decisions),
    )
