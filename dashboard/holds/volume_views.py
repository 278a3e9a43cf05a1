"""From how many executions an hour on a rule is held."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.holds import queries
from dashboard.holds.views import bp
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput, NotFound
from tasks.holds.flooding import LIMIT_MAX, limit_volume, watch_volume
from tasks.holds.volumes import APPROVED_FOR, FACTOR, LEAST, n_this_hour, usual_of
from tasks.models import VolumeLimit
from tasks.saying import say


class Mode(StrEnum):
    """Who says what is too much."""

    USUAL = "usual"  # the rule's own history
    NUMBER = "number"
    NEVER = "never"


@bp.get("/volume/<uuid:rule_id>")
@require("operator")
def volume(rule_id: UUID) -> str:
    """Show what is usual for a rule, and the form of its limit."""
    return _page(rule_id)


@bp.post("/volume/<uuid:rule_id>")
def limit(rule_id: UUID) -> ResponseReturnValue:
    """Say when a rule is held for its volume."""
    session = db.session()
    try:
        _save(rule_id)
    except NotFound:
        raise
    except InvalidInput as refused:
        session.rollback()
        return _page(rule_id, refused.message), 422
    db.session.commit()
    flash(say("Saved."), "success")
    return redirect(url_for("rules.detail", rule_id=rule_id), 303)


def _save(rule_id: UUID) -> None:
    session, mode = db.session(), request.form.get("mode", "")
    text = request.form.get("hold_above", "").strip()
    if mode == Mode.USUAL:
        watch_volume(session, rule_id, actor())
    elif mode == Mode.NEVER:
        limit_volume(session, rule_id, None, actor(), now=utcnow())
    elif mode == Mode.NUMBER:
        is_number = text.isascii() and text.isdecimal() and len(text) < 10
        number = int(text) if is_number else 0  # which the engine refuses in words
        limit_volume(session, rule_id, number, actor(), now=utcnow())
    else:
        raise InvalidInput("no_mode", say("Choose one of the three."))


def _page(rule_id: UUID, error: str | None = None) -> str:
    session, now = db.session(), utcnow()
    rule = queries.rule_named(session, rule_id)
    if rule is None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    row = session.get(VolumeLimit, rule_id)
    known = Mode.USUAL
    if row is not None:
        known = Mode.NEVER if row.hold_above is None else Mode.NUMBER
    return render(
        "holds/volume.html",
        rule=rule,
        row=row,
        mode=request.form.get("mode", known),
        hold_above=request.form.get("hold_above", (row and row.hold_above) or ""),
        error=error,
        usual=usual_of(session, [rule_id], now)[rule_id],
        n=n_this_hour(session, rule_id, now),
        least=LEAST,
        factor=FACTOR,
        limit_max=LIMIT_MAX,
        approved_for=APPROVED_FOR,
    )
