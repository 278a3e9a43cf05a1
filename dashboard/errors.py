"""Errors as people and programs see them: a page, or JSON under /api."""

from __future__ import annotations

import logging
from typing import Final

from flask import Flask, Response, g, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from gunicorn.http.errors import NoMoreData, ParseException
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import (
    BadRequest,
    HTTPException,
    InternalServerError,
    SecurityError,
)

from dashboard import languages
from dashboard.api.errors import error_answer, on_http_error
from dashboard.back import came_from
from dashboard.filters import size
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.saying import mark, say

logger = logging.getLogger(__name__)

#: status -> (code for programs, title, sentence)
PAGES: Final = {
    400: (
        "bad_request",
        mark("That did not work"),
        mark("The request could not be understood."),
    ),
    401: ("unauthorized", mark("Please log in"), mark("Log in and try again.")),
    403: (
        "forbidden",
        mark("Not allowed"),
        mark("You may not do this. An admin can say who may."),
    ),
    404: (
        "not_found",
        mark("Nothing here"),
        mark("This page does not exist, or not any more."),
    ),
    405: (
        "method_not_allowed",
        mark("Not like that"),
        mark("This address cannot be used so."),
    ),
    409: (
        "conflict",
        mark("That does not fit"),
        mark("Something else has changed meanwhile."),
    ),
    413: ("too_large", mark("Too much"), mark("What was sent is larger than 1 MB.")),
    429: (
        "too_many_requests",
        mark("Slow down"),
        mark("Too many requests. Try again later."),
    ),
    503: (
        "database_unavailable",
        mark("One moment"),
        mark("The database does not answer. Nothing was saved. Try again in a minute."),
    ),
    500: (
        "internal",
        mark("Something broke"),
        mark("It is our fault, not yours. Nothing was saved. Try again in a minute."),
    ),
}
#: Statuses whose sentence we write where they are raised.
_WITH_SENTENCE: Final = frozenset({403, 409, 429})
#: What may be over in a moment.
_PASSING: Final = frozenset({429, 500, 503})


def _on_http_error(error: HTTPException) -> ResponseReturnValue:
    if error.response is not None:
        return error.response
    if isinstance(error, InternalServerError) and isinstance(
        error.original_exception, OperationalError
    ):  # it happened when the answer was there, as the session was saved
        return _on_database_error(error.original_exception)
    if isinstance(error, SecurityError):
        return _on_foreign_host(error)
    if _is_of_api():
        return on_http_error(error)
    status = error.code or 500
    sentence = say(PAGES.get(status, PAGES[500])[2])
    if status == 413 and (limit := g.get("file_limit")):
        sentence = say(
            "The file is larger than %(most)s. Nothing was saved.", most=size(limit)
        )
    if status in _WITH_SENTENCE and error.description != type(error).description:
        sentence = error.description or sentence
    headers = {
        name: value
        for name, value in error.get_headers()
        if name.lower() != "content-type"
    }
    return *_answer(status, sentence), headers


def _on_foreign_host(error: SecurityError) -> ResponseReturnValue:
    # It came before everything else, and no address can be made, so no page either.
    languages.begin()
    sentence = say(
        "The console does not answer under this host name, only under that of BASE_URL."
    )
    if _is_of_api():
        return error_answer(400, "bad_request", sentence)
    return Response(sentence, mimetype="text/plain", status=error.code)


def _on_bad_framing(_error: Exception) -> ResponseReturnValue:
    # The server finds out only when the body is read.
    return _on_http_error(BadRequest())


def _is_of_api() -> bool:
    return f"{request.path}/".startswith("/api/")


def _on_csrf_error(_error: CSRFError) -> ResponseReturnValue:
    return _answer(400, say("Reload the page and try again."), code="csrf")


def _on_engine_error(error: InvalidInput) -> ResponseReturnValue:
    status = 400
    if isinstance(error, NotFound):
        status = 404
    elif isinstance(error, Conflict):
        status = 409
    return _answer(status, error.message, code=error.code)


def _on_database_error(error: OperationalError) -> ResponseReturnValue:
    logger.error("database.unavailable", exc_info=error)
    languages.begin()  # it may have happened before
    return *_answer(503, say(PAGES[503][2])), {"Retry-After": "10"}


def _page_before() -> str | None:
    """Return where to go back to; None: nowhere, or to what did not work."""
    page = came_from()
    is_itself = request.method == "GET" and page == request.full_path.rstrip("?")
    return None if is_itself else page


def _answer(
    status: int, sentence: str, *, code: str | None = None
) -> tuple[str | Response, int]:
    known, title, _ = PAGES.get(status, PAGES[500])
    if _is_of_api():
        return jsonify(error={"code": code or known, "message": sentence}), status
    return (
        render_template(
            "errors/error.html",
            status=status,
            title=say(title),
            sentence=sentence,
            request_id=g.get("request_id", ""),
            before=_page_before(),
            may_try_again=status in _PASSING and request.method == "GET",
        ),
        status,
    )


def init_app(app: Flask) -> None:
    """Answer every error in our words."""
    app.register_error_handler(HTTPException, _on_http_error)
    for broken in (ParseException, NoMoreData):
        app.register_error_handler(broken, _on_bad_framing)
    app.register_error_handler(CSRFError, _on_csrf_error)
    app.register_error_handler(OperationalError, _on_database_error)
    app.register_error_handler(InvalidInput, _on_engine_error)
