"""The addresses that a scheduler outside calls, for installations that have one.

The worker does the same by itself; calling besides it does no harm.  Whoever knows
``CRON_SECRET`` may call, and learns numbers alone.
"""

from __future__ import annotations

import hashlib
import hmac
from http import HTTPStatus
from typing import Final

from flask import Blueprint, Response, current_app, jsonify, request
from werkzeug.exceptions import HTTPException

from dashboard.extensions import csrf, db, limiter
from tasks.assembly import make_bench
from tasks.config import Config
from tasks.congregation.notifications.steering import flush
from tasks.lane import Bench
from tasks.models import LaneTrigger
from tasks.registry import lane
from tasks.runner import run_lane

#: Calls of one address, good and bad ones.
PACE: Final = "30 per minute"
#: What ``/cron/retention`` sweeps, and the outcomes that it counts.
SWEPT: Final = {
    "retention": ("anonymised", "noticed", "blocked", "released", "not_erased"),
    "janitor": ("tokens", "consents", "notifications", "untold", "digests"),
}
_TAKEN: Final = ("GET", "POST")
# Every method has the view, since HEAD must not sweep and a wrong one gets JSON, too.
_METHODS: Final = (*_TAKEN, "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")
_SCHEME: Final = "bearer"

bp = Blueprint("cron", __name__, url_prefix="/cron")
csrf.exempt(bp)  # schedulers send no cookies; each call has the secret instead
limiter.limit(PACE)(bp)


@bp.before_request
def _admit() -> Response | None:
    """Refuse wrong methods with 405, and whoever has not the secret with 401."""
    if request.method not in _TAKEN:
        answer = _no(HTTPStatus.METHOD_NOT_ALLOWED, "Use GET or POST.")
        answer.headers["Allow"] = ", ".join(_TAKEN)
        return answer
    secret = _config().cron_secret
    if secret is not None and _is_same(_token(), secret):
        return None
    answer = _no(
        HTTPStatus.UNAUTHORIZED,
        "Send the secret as: Authorization: Bearer … It is the setting CRON_SECRET; "
        "while that is not set, nobody is admitted.",
    )
    answer.headers["WWW-Authenticate"] = 'Bearer realm="cron"'
    return answer


@bp.route("/retention", methods=_METHODS, provide_automatic_options=False)
def retention() -> Response:
    """Forget who left too long ago, and what is past its time; for some seconds."""
    counted: dict[str, int] = {}
    paused, failed, is_more = [], [], False
    bench = _bench()
    for name, outcomes in SWEPT.items():
        ran = run_lane(lane(name), bench, LaneTrigger.CRON)
        if ran is None:
            paused.append(name)
            continue
        counted |= {outcome: ran.moved[outcome] for outcome in outcomes}
        is_more = is_more or ran.is_full
        if ran.error:
            failed.append(name)
    answer = jsonify(
        ok=not failed, **counted, more=is_more, paused=paused, failed=failed
    )
    answer.status_code = HTTPStatus.INTERNAL_SERVER_ERROR if failed else HTTPStatus.OK
    return answer


@bp.route("/process-notifications", methods=_METHODS, provide_automatic_options=False)
def process_notifications() -> Response:
    """Make mails of the notifications that have settled; the worker sends them."""
    return jsonify(ok=True, mails=flush(_bench()).n_mails)


def _token() -> bytes:
    """Return the token as it came, byte by byte; empty: none, or another scheme."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != _SCHEME:
        return b""
    return token.strip().encode("utf-8", "surrogatepass")


def _is_same(token: bytes, secret: str) -> bool:
    # Digests have one length, so that not even the secret's own can be measured.
    given, wanted = (hashlib.sha256(each).digest() for each in (token, secret.encode()))
    return hmac.compare_digest(given, wanted)


def _config() -> Config:
    config: Config = current_app.config["CARILLON"]
    return config


def _bench() -> Bench:
    return make_bench(_config(), db.engine)


def _no(status: HTTPStatus, sentence: str) -> Response:
    code = status.phrase.lower().replace(" ", "_")
    answer = jsonify(ok=False, error={"code": code, "message": sentence})
    answer.status_code = status
    return answer


@bp.errorhandler(HTTPException)
def _refused(error: HTTPException) -> Response:
    status = HTTPStatus(error.code or 500)
    is_pace = status is HTTPStatus.TOO_MANY_REQUESTS
    sentence = "Too many calls; try again in a minute." if is_pace else status.phrase
    answer = _no(status, sentence)
    for name, value in error.get_headers():
        if name.lower() == "retry-after":
            answer.headers[name] = value
    return answer
