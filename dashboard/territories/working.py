"""Giving territories out, and what becomes of the work on them."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filters import day
from dashboard.office import Deed, asked_day, attempt
from dashboard.security import actor
from dashboard.territories.forms import GiftForm
from dashboard.territories.views import bp, page_of
from tasks.clock import utcnow
from tasks.congregation.territories import attributions as engine
from tasks.congregation.territories.giving import give
from tasks.congregation.territories.territories import territory
from tasks.errors import InvalidInput
from tasks.saying import say


@bp.post("/<uuid:territory_id>/give")
def give_out(territory_id: UUID) -> ResponseReturnValue:
    """Give a territory to a member."""
    session, form = db.session(), GiftForm()
    territory(session, territory_id)
    if form.validate_on_submit():
        try:
            row = give(session, territory_id, form.gift(), actor(), utcnow())
        except InvalidInput as refused:
            session.rollback()
            form.refuse(refused)
        else:
            db.session.commit()
            flash(say("Given out until %(day)s.", day=day(row.due_on)), "success")
            return redirect(url_for(".detail", territory_id=territory_id), 303)
    return page_of(territory_id, form), 422


@bp.post("/attributions/<uuid:attribution_id>/give-back")
def give_back(attribution_id: UUID) -> ResponseReturnValue:
    """End work on a territory."""
    on = asked_day("ended_on")
    return _do(
        attribution_id,
        lambda session, who, now: engine.give_back(
            session, attribution_id, on, who, now
        ),
        say("Given back."),
    )


@bp.post("/attributions/<uuid:attribution_id>/pause")
def pause(attribution_id: UUID) -> ResponseReturnValue:
    """Pause work on a territory."""
    return _do(
        attribution_id,
        lambda session, who, now: engine.pause(session, attribution_id, who, now),
        say("Paused: it is still held, and not late meanwhile."),
    )


@bp.post("/attributions/<uuid:attribution_id>/resume")
def resume(attribution_id: UUID) -> ResponseReturnValue:
    """Let work on a territory go on."""
    return _do(
        attribution_id,
        lambda session, who, now: engine.resume(session, attribution_id, who, now),
        say("It goes on, and is due as many days later as it was paused."),
    )


@bp.post("/attributions/<uuid:attribution_id>/due")
def postpone(attribution_id: UUID) -> ResponseReturnValue:
    """Let work be due on another day."""
    due_on = asked_day("due_on")
    return _do(
        attribution_id,
        lambda session, who, now: engine.postpone(
            session, attribution_id, due_on, who, now
        ),
        say("Saved."),
    )


def _do(attribution_id: UUID, deed: Deed, sentence: str) -> ResponseReturnValue:
    row = engine.attribution(db.session(), attribution_id)
    back_to = url_for(".detail", territory_id=row.territory_id)
    return attempt(deed, sentence, back_to)
