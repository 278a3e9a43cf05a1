"""Trying many mails again that failed: asked about first, with the number."""

from __future__ import annotations

from flask import request, url_for
from flask.typing import ResponseReturnValue

from dashboard.notifications.filters import MailFilter
from dashboard.notifications.views import bp
from dashboard.operations.asking import Question, ask, begin, ticked
from dashboard.security import require
from tasks.clock import utcnow
from tasks.models import OperationKind
from tasks.saying import say


def _question() -> Question:
    form = MailFilter.read(request.args)
    back = url_for(".index", **form.search.params())
    matching = form.asked(utcnow())
    return Question(OperationKind.RETRY_MAILS, back, say("Notifications"), matching)


@bp.post("/mails/retry")
def retry_selected() -> ResponseReturnValue:
    """Ask about, then try again, the mails that were ticked."""
    return ticked(_question())


@bp.get("/mails/retry-all")
@require("operator")
def ask_retry_all() -> str:
    """Say how many mails match that failed, and ask whether to try them again."""
    return ask(_question())


@bp.post("/mails/retry-all")
def retry_all() -> ResponseReturnValue:
    """Try the mails again that match and failed."""
    return begin(_question())
