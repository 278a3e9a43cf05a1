"""The buttons of lateness budgets; the pages are those of rules and lanes."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import Blueprint, abort, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import BadRequestKeyError

from dashboard.charts.lanes import COUNTED
from dashboard.extensions import db
from dashboard.security import actor, current_operator
from tasks import registry
from tasks.clock import utcnow
from tasks.errors import InvalidInput, NotFound
from tasks.operations.budgets import Promise, set_lane_budget, set_rule_budget
from tasks.saying import say

bp: Final = Blueprint("budgets", __name__, url_prefix="/budgets")


@bp.post("/rules/<uuid:rule_id>")
def rule(rule_id: UUID) -> ResponseReturnValue:
    """Set a rule's budget, or take it away."""
    here = url_for("rules.detail", rule_id=rule_id) + "#budget"
    try:
        set_rule_budget(db.session(), rule_id, _promise(), actor(), now=utcnow())
    except NotFound:
        raise
    except InvalidInput as refused:
        return _refused(refused, here)
    return _saved(here)


@bp.post("/lanes/<name>")
def lane(name: str) -> ResponseReturnValue:
    """Set a lane's budget, or take it away."""
    if not current_operator().sees_all:
        abort(403, say("Only operators of all congregations set the budget of a lane."))
    if name not in COUNTED or COUNTED[name].never_waits:
        told = say("There is no lane of this name with a budget.")
        raise NotFound("unknown_lane", told)
    here = url_for("lanes.detail", name=name) + "#budget"
    title = registry.lane(name).title
    try:
        set_lane_budget(db.session(), name, title, _promise(), actor(), now=utcnow())
    except InvalidInput as refused:
        return _refused(refused, here)
    return _saved(here)


def _promise() -> Promise | None:
    """Return what the form says; None: no budget.

    Raises:
        InvalidInput: ``bad_promise``.
    """
    try:
        if not (share := request.form.get("share", "")):
            return None
        by_mail = "by_mail" in request.form
        return Promise(int(share), int(request.form["seconds"]), by_mail)
    except (ValueError, BadRequestKeyError) as error:
        told = say("Choose one of the offered shares and spans.")
        raise InvalidInput("bad_promise", told, field="share") from error


def _saved(here: str) -> ResponseReturnValue:
    flash(say("Saved. It is looked at about once a minute."), "success")
    db.session.commit()
    return redirect(here, 303)


def _refused(refused: InvalidInput, here: str) -> ResponseReturnValue:
    db.session.rollback()
    flash(refused.message, "warning")
    return redirect(here, 303)
