"""The API's error answers: one shape, a code for machines, a sentence for people."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from flask import Response, jsonify
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from dashboard.api.strict_json import JsonRefused
from tasks.errors import Conflict, InvalidInput, NotFound

logger = logging.getLogger(__name__)

#: What is told to come again when the database is away.
RETRY_AFTER_SECONDS: Final = 5

Problem = dict[str, str]  # field, code, message


class ApiError(Exception):
    """A refusal of the API itself."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        message: str,
        *,
        headers: dict[str, str] | None = None,
        **details: Any,  # noqa: ANN401  # JSON values beside code and message
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        self.details = details


def invalid(problems: list[Problem]) -> ApiError:
    """Return the refusal that names every problem at once."""
    n = len(problems)
    message = (
        problems[0]["message"] if n == 1 else f"The request has {n} problems; see each."
    )
    return ApiError(
        HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", message, problems=problems
    )


def error_answer(
    status: int,
    code: str,
    message: str,
    details: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return the one shape in which the API says no."""
    answer = jsonify({"error": {"code": code, "message": message, **(details or {})}})
    answer.status_code = status
    answer.headers.update(headers or {})
    return answer


def on_api_error(error: ApiError) -> Response:
    """Answer a refusal of the API."""
    return error_answer(
        error.status, error.code, error.message, error.details, error.headers
    )


def on_json_refused(error: JsonRefused) -> Response:
    """Answer a body that is no acceptable JSON: 400, with its place if it has one."""
    place = {} if error.line is None else {"line": error.line, "column": error.column}
    return error_answer(HTTPStatus.BAD_REQUEST, error.code, error.message, place)


def on_invalid_input(error: InvalidInput) -> Response:
    """Answer a refusal of the engine: 404, 409 or 422.

    What is not found is 404 when the address names it, 422 when a field does.
    """
    if isinstance(error, NotFound) and error.field is None:
        status, code = HTTPStatus.NOT_FOUND, error.code
    elif isinstance(error, Conflict):
        status, code = HTTPStatus.CONFLICT, error.code
    else:
        problem = {
            "field": error.field or "",
            "code": error.code,
            "message": error.message,
        }
        return on_api_error(invalid([problem]))
    return error_answer(status, code, error.message)


def on_database_error(error: Exception) -> Response:
    """Answer that the database is away: 503 and when to come again."""
    if isinstance(error, DBAPIError) and not (
        isinstance(error, OperationalError | InterfaceError)
        or error.connection_invalidated
    ):
        raise error  # a bug of ours: the console's handler answers 500
    logger.error("api.database_away", exc_info=error)
    return error_answer(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "database_unavailable",
        "The database does not answer at the moment. Try again; with the same "
        "Idempotency-Key nothing happens twice.",
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def on_http_error(error: HTTPException) -> Response:
    """Answer what the web framework refuses, in the API's own shape."""
    if isinstance(error.response, Response):  # somebody made the answer already
        return error.response
    status = HTTPStatus(error.code or 500)
    code, sentence = _TOLD.get(status, _TOLD[HTTPStatus.BAD_REQUEST])
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        code, sentence = _BROKEN
    answer = error_answer(status, code, sentence)
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            answer.headers[name] = value
    return answer


#: status -> (code, sentence)
_TOLD: Final = {
    HTTPStatus.BAD_REQUEST: (
        "bad_request",
        "The request could not be understood; is it proper HTTP?",
    ),
    HTTPStatus.NOT_FOUND: ("not_found", "There is nothing at this address."),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        "method_not_allowed",
        "This address does not know this method.",
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("body_too_large", "The body is too large."),
    HTTPStatus.TOO_MANY_REQUESTS: (
        "too_many_requests",
        "Too many requests; wait a little and try again.",
    ),
}
_BROKEN: Final = ("internal", "It is our fault, not yours. Try again in a minute.")

#: Which exception is answered by which function.
HANDLERS: Final[Mapping[type[Exception], Callable[[Any], Response]]] = {
    ApiError: on_api_error,
    JsonRefused: on_json_refused,
    InvalidInput: on_invalid_input,
    DBAPIError: on_database_error,
    PoolTimeout: on_database_error,
    HTTPException: on_http_error,
}
