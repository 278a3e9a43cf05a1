"""What operators do to many engagements: asked about first, with the number."""

from __future__ import annotations

from flask import request, url_for
from flask.typing import ResponseReturnValue

from dashboard.operations.asking import Question, ask, begin, ticked
from dashboard.outreach.filters import EngagementFilter
from dashboard.outreach.offers import KINDS
from dashboard.outreach.views import bp
from dashboard.security import require
from tasks.clock import utcnow
from tasks.saying import say


def _question(verb: str) -> Question:
    form = EngagementFilter.read(request.args)
    back = url_for(".index", **form.search.params())
    return Question(KINDS[verb], back, say("Outreach"), form.asked(utcnow()))


@bp.post("/ticked/<any(wake, stop, pause, resume):verb>")
def do_ticked(verb: str) -> ResponseReturnValue:
    """Ask about the engagements that were ticked, then change them."""
    return ticked(_question(verb))


@bp.get("/all/<any(wake, stop, pause, resume):verb>")
@require("operator")
def ask_all(verb: str) -> str:
    """Say how many engagements match and can be changed so, and ask for it."""
    return ask(_question(verb))


@bp.post("/all/<any(wake, stop, pause, resume):verb>")
def do_all(verb: str) -> ResponseReturnValue:
    """Change the engagements that match."""
    return begin(_question(verb))
