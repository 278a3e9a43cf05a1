"""The buttons of an endpoint: on, off, a test, and sending again."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filters import absolute, plural
from dashboard.security import actor
from dashboard.webhooks.forms import ReplayForm
from dashboard.webhooks.views import bp, detail_page
from dashboard.zones import here
from tasks.clock import utcnow
from tasks.errors import Conflict, InvalidInput
from tasks.saying import say
from tasks.webhooks import endpoints
from tasks.webhooks.finding import get_endpoint
from tasks.webhooks.replays import Replayed, replay_event, replay_span
from tasks.webhooks.testing import send_test


@bp.post("/<uuid:endpoint_id>/enable")
def enable(endpoint_id: UUID) -> ResponseReturnValue:
    """Switch an endpoint on."""
    since = endpoints.enable(db.session(), endpoint_id, actor(), utcnow())
    db.session.commit()
    flash(say("It hears of everything from now on."), "success")
    if since is not None:
        flash(
            say(
                "What happened since %(when)s can be told again below.",
                when=absolute(since),
            ),
            "info",
        )
    from_then = None if since is None else f"{here(since):%Y-%m-%dT%H:%M}"
    return _to_endpoint(endpoint_id, since=from_then)


@bp.post("/<uuid:endpoint_id>/disable")
def disable(endpoint_id: UUID) -> ResponseReturnValue:
    """Switch an endpoint off."""
    endpoints.disable(db.session(), endpoint_id, actor(), utcnow())
    db.session.commit()
    flash(say("It hears of nothing any more. What waited for it has ended."), "success")
    return _to_endpoint(endpoint_id)


@bp.post("/<uuid:endpoint_id>/test")
def test(endpoint_id: UUID) -> ResponseReturnValue:
    """Send an event that never happened."""
    try:
        delivery = send_test(db.session(), endpoint_id, actor(), utcnow())
    except Conflict as refused:
        return _refused(refused, endpoint_id)
    db.session.commit()
    flash(say("A test is on its way."), "success")
    return redirect(url_for(".delivery", delivery_id=delivery.id), 303)


@bp.post("/<uuid:endpoint_id>/replay")
def replay(endpoint_id: UUID) -> ResponseReturnValue:
    """Tell an endpoint again what happened within a span."""
    get_endpoint(db.session(), endpoint_id)
    form, now = ReplayForm(), utcnow()
    try:
        if not form.validate_on_submit() or form.since.data is None:
            raise InvalidInput("bad_span", say("Say from when on."), field="since")
        done = replay_span(
            db.session(),
            endpoint_id,
            form.since.data,
            form.until.data or now,
            actor(),
            now,
            again=bool(form.again.data),
        )
    except Conflict as refused:
        return _refused(refused, endpoint_id)
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return detail_page(endpoint_id, form), 422
    db.session.commit()
    flash(_told(done), "success" if done.n_events else "info")
    return _to_endpoint(endpoint_id)


@bp.post("/events/<uuid:event_id>/replay")
def again(event_id: UUID) -> ResponseReturnValue:
    """Tell an event again to every endpoint that asks for it."""
    try:
        replay_event(db.session(), event_id, actor(), utcnow())
    except Conflict as refused:
        db.session.rollback()
        flash(refused.message, "warning")
    else:
        db.session.commit()
        flash(say("It is told again to every endpoint that asks for it."), "success")
    return redirect(url_for("events.detail", event_id=event_id), 303)


def _told(done: Replayed) -> str:
    if not done.n_events:
        return say("Nothing that it asks for happened then.")
    told = say("%(events)s looked at again.", events=plural(done.n_events, "event"))
    if done.until is None:
        return told
    return say(
        "%(told)s That is as many as go at once; go on from %(when)s.",
        told=told,
        when=absolute(done.until),
    )


def _refused(refused: Conflict, endpoint_id: UUID) -> ResponseReturnValue:
    db.session.rollback()
    flash(refused.message, "warning")
    return _to_endpoint(endpoint_id)


def _to_endpoint(endpoint_id: UUID, since: str | None = None) -> ResponseReturnValue:
    return redirect(url_for(".detail", endpoint_id=endpoint_id, since=since), 303)
