"""The addresses that booking services call, one for each source."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from flask import Blueprint, Response, current_app, jsonify, request
from sqlalchemy.orm import Session
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from dashboard.extensions import csrf, db, limiter
from tasks.clock import utcnow
from tasks.db import congregation_session, reading
from tasks.errors import InvalidInput
from tasks.models import CallOutcome, Source
from tasks.secrets import SecretBox
from tasks.sources.receiving import Received, find, receive
from tasks.sources.told import Signed

#: Bytes of one call.
BODY_LIMIT: Final = 1_048_576
#: Calls without a good signature that one address may make to one source.
BAD_CALLS: Final = "30 per minute"

bp = Blueprint("hooks", __name__, url_prefix="/hooks")
csrf.exempt(bp)  # services send no cookies; every call is signed instead

_STATUS: Final = {
    CallOutcome.APPLIED: HTTPStatus.OK,
    CallOutcome.UNCHANGED: HTTPStatus.OK,
    CallOutcome.IGNORED: HTTPStatus.OK,
    CallOutcome.FAILED: HTTPStatus.UNPROCESSABLE_ENTITY,
    CallOutcome.REFUSED: HTTPStatus.UNAUTHORIZED,
}


def _caller() -> str:
    token = (request.view_args or {}).get("token", "")
    return f"{request.remote_addr}/{token[:64]}"


def _is_bad(response: Response) -> bool:
    return response.status_code in {401, 404}


@bp.post("/<token>")
@limiter.limit(BAD_CALLS, key_func=_caller, deduct_when=_is_bad)
def take(token: str) -> Response:
    """Take a call: 2xx when it is understood, 401 when nobody vouches for it."""
    now = utcnow()  # before the body, which may come slowly
    body = _body()
    with Session(db.engine) as session:
        reading(session)
        found = find(session, token)
    if found is None:
        return _no(HTTPStatus.NOT_FOUND, "unknown_address", "Nothing listens here.")
    congregation_id, source_id = found
    box = SecretBox(current_app.config["CARILLON"].secret_key)
    with congregation_session(db.engine, congregation_id) as session:
        source = session.get(Source, source_id)
        if source is None:  # it was removed this very moment
            return _no(HTTPStatus.NOT_FOUND, "unknown_address", "Nothing listens here.")
        headers = {name.lower(): value for name, value in request.headers}
        received = receive(session, source, Signed(headers, body, now), box=box)
    return _answer(received)


@bp.get("/<token>")
def look(token: str) -> Response:
    """Tell somebody who opens the address in a browser what it is for."""
    del token  # whether it exists is nobody's business
    answer = _no(
        HTTPStatus.METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "This address takes signed POST requests of a booking service.",
    )
    answer.headers["Allow"] = "POST"
    return answer


def _body() -> bytes:
    # One byte more, since a body in chunks is cut at the limit without a word.
    request.max_content_length = BODY_LIMIT + 1
    body = request.get_data()
    if len(body) > BODY_LIMIT:
        raise RequestEntityTooLarge
    return body


def _answer(received: Received) -> Response:
    status = _STATUS[received.outcome]
    if status is not HTTPStatus.OK:
        return _no(status, received.code, received.sentence)
    return jsonify(
        outcome=str(received.outcome),
        message=received.sentence,
        booking_id=received.booking_id,
    )


def _no(status: HTTPStatus, code: str, sentence: str) -> Response:
    answer = jsonify(error={"code": code, "message": sentence})
    answer.status_code = status
    return answer


@bp.errorhandler(RequestEntityTooLarge)
def _too_large(_error: RequestEntityTooLarge) -> Response:
    return _no(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        f"A call may have at most {BODY_LIMIT:,} bytes.",
    )


@bp.errorhandler(HTTPException)
def _refused(error: HTTPException) -> Response:
    status = HTTPStatus(error.code or 500)
    answer = _no(status, status.phrase.lower().replace(" ", "_"), _sentence(status))
    for name, value in error.get_headers():
        if name.lower() == "retry-after":
            answer.headers[name] = value
    return answer


def _sentence(status: HTTPStatus) -> str:
    if status is HTTPStatus.TOO_MANY_REQUESTS:
        return "Too many calls without a good signature; try again in a minute."
    return f"{status.phrase}."


@bp.errorhandler(InvalidInput)
def _unusable(error: InvalidInput) -> Response:
    # Only the source's own secret can be at fault here: it is ours to repair.
    return _no(HTTPStatus.SERVICE_UNAVAILABLE, error.code, error.message)
