"""What buttons on a member's page do."""

from __future__ import annotations

from uuid import UUID

from flask import request, url_for
from flask.typing import ResponseReturnValue

from dashboard.filter_fields import clean
from dashboard.members.views import bp
from dashboard.office import Deed, asked_day, attempt
from tasks.congregation.people import contacts, leaving
from tasks.congregation.retention import holding
from tasks.saying import say


@bp.post("/<uuid:member_id>/leave")
def leave(member_id: UUID) -> ResponseReturnValue:
    """Write down that a member has left."""
    on = asked_day("left_on")
    return _do(
        member_id,
        lambda session, who, now: leaving.leave(session, member_id, on, who, now),
        say("Written down. What is held still can be given back on this page."),
    )


@bp.post("/<uuid:member_id>/return")
def come_back(member_id: UUID) -> ResponseReturnValue:
    """Write down that a member is back."""
    return _do(
        member_id,
        lambda session, who, now: leaving.come_back(session, member_id, who, now),
        say("Welcome back: nothing will be anonymised."),
    )


@bp.post("/<uuid:member_id>/hold")
def hold(member_id: UUID) -> ResponseReturnValue:
    """Keep a member from being anonymised for a while."""
    until, why = asked_day("hold_until"), request.form.get("hold_reason", "")
    return _do(
        member_id,
        lambda session, who, now: holding.hold(
            session, member_id, until, why, who, now=now
        ),
        say("Held: until then nothing is anonymised."),
    )


@bp.post("/<uuid:member_id>/release")
def release(member_id: UUID) -> ResponseReturnValue:
    """End a hold."""
    return _do(
        member_id,
        lambda session, who, now: holding.end_hold(session, member_id, who, now=now),
        say("The hold is over."),
    )


@bp.post("/<uuid:member_id>/contacts")
def add_contact(member_id: UUID) -> ResponseReturnValue:
    """Add somebody to call."""
    given = {n: request.form.get(n, "") for n in ("name", "phone", "relation")}
    return _do(
        member_id,
        lambda session, who, _: contacts.add_contact(
            session, member_id, actor=who, **given
        ),
        say("Added."),
    )


@bp.post("/<uuid:member_id>/contacts/<uuid:emergency_id>/remove")
def remove_contact(member_id: UUID, emergency_id: UUID) -> ResponseReturnValue:
    """Remove somebody to call."""
    return _do(
        member_id,
        lambda session, who, _: contacts.remove_contact(
            session, member_id, emergency_id, who
        ),
        say("Removed."),
    )


@bp.post("/<uuid:member_id>/consents")
def give_consent(member_id: UUID) -> ResponseReturnValue:
    """Write down what a member agreed to."""
    kind = clean(request.form.get("kind"))
    return _do(
        member_id,
        lambda session, who, now: contacts.give_consent(
            session, member_id, kind, who, now
        ),
        say("Written down."),
    )


@bp.post("/<uuid:member_id>/consents/withdraw")
def withdraw_consent(member_id: UUID) -> ResponseReturnValue:
    """Write down what a member takes back."""
    kind = clean(request.form.get("kind"))
    return _do(
        member_id,
        lambda session, who, now: contacts.withdraw_consent(
            session, member_id, kind, who, now
        ),
        say("Written down: it holds no more."),
    )


def _do(member_id: UUID, deed: Deed, sentence: str) -> ResponseReturnValue:
    return attempt(deed, sentence, url_for(".detail", member_id=member_id))
