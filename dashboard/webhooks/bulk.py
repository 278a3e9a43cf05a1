"""Sending many deliveries again: asked about first, with the number."""

from __future__ import annotations

from flask import request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.operations.asking import Question, ask, begin, ticked
from dashboard.search.plain import bad_filter
from dashboard.security import require
from dashboard.webhooks.delivery_views import DeliveryFilter
from dashboard.webhooks.views import bp
from tasks.clock import utcnow
from tasks.models import OperationKind
from tasks.saying import say


def _question() -> Question:
    form = DeliveryFilter.read(db.session(), request.args)
    for name in form.errors:  # acting on a filter that was half understood is worse
        raise bad_filter(name)
    back = url_for(".deliveries", **form.search.params())
    matching = form.wanted(utcnow()).as_json()
    return Question(OperationKind.RETRY_DELIVERIES, back, say("Deliveries"), matching)


@bp.post("/deliveries/retry")
def retry_selected() -> ResponseReturnValue:
    """Ask about, then send again, the deliveries that were ticked."""
    return ticked(_question())


@bp.get("/deliveries/retry-all")
@require("operator")
def ask_retry_all() -> str:
    """Say how many deliveries match that did not arrive, and ask for another try."""
    return ask(_question())


@bp.post("/deliveries/retry-all")
def retry_all() -> ResponseReturnValue:
    """Send again what matches and did not arrive."""
    return begin(_question())
