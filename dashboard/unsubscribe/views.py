"""Unsubscribing: no login, one press, or none where the mail program does it.

Whoever has the link may press it: it says itself, sealed, which address it is about.
Looking changes nothing, since programs open links to check them.
"""

from __future__ import annotations

from flask import Blueprint, current_app, request

from dashboard.extensions import csrf, db, limiter
from dashboard.languages import FIRST, speak
from dashboard.web import render
from tasks.config import Config
from tasks.db import set_scope
from tasks.errors import NotFound
from tasks.models import Congregation
from tasks.operations.suppressions import unsubscribe
from tasks.outbound.unsubscribing import PATH, UnsubscribeLinks
from tasks.saying import LANGUAGES, say

bp = Blueprint("unsubscribe", __name__, url_prefix=PATH.rstrip("/"))
# RFC 8058: the mail program posts without cookies, and knows no token of ours.  The
# link itself is the proof.
csrf.exempt(bp)


@bp.get("/<token>")
@limiter.limit("120 per minute")
def show(token: str) -> str:
    """Ask whether to end the mails."""
    congregation, address = _read(token)
    return _page(congregation, address, is_done=False)


@bp.post("/<token>")
@limiter.limit("120 per minute")
def end(token: str) -> str:
    """End the mails: for the button of the page, and for mail programs."""
    congregation, address = _read(token)
    session = db.session()
    unsubscribe(session, congregation.id, address, ip=request.remote_addr)
    page = _page(congregation, address, is_done=True)
    session.commit()
    return page


def _read(token: str) -> tuple[Congregation, str]:
    """Return whom the link is about, and let the session see that congregation."""
    config: Config = current_app.config["CARILLON"]
    links = UnsubscribeLinks(config.base_url, config.secret_key)
    congregation_id, address = links.read(token)
    session = db.session()
    set_scope(session, frozenset({congregation_id}))
    congregation = session.get(Congregation, congregation_id)
    if congregation is None:
        raise NotFound("bad_link", say("Who sent this mail does not exist any more."))
    return congregation, address


def _page(congregation: Congregation, address: str, *, is_done: bool) -> str:
    """Return the page in the congregation's language: it is for its guests."""
    spoken = congregation.locale if congregation.locale in LANGUAGES else FIRST
    speak(spoken)
    return render(
        "unsubscribe/page.html",
        congregation=congregation,
        address=address,
        is_done=is_done,
        spoken=spoken,
    )
