"""Takes a request's body: the right kind, not too big, strict JSON."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Any, Final

from flask import current_app, request
from werkzeug.exceptions import RequestEntityTooLarge

from dashboard.api.errors import ApiError
from dashboard.api.strict_json import loads

JSON: Final = "application/json"


def read_bytes() -> bytes:
    """Return the body, also one sent in chunks.

    Raises:
        ApiError: 413, it is bigger than the setting ``BODY_LIMIT``; 415, it is packed.
    """
    packed = request.headers.get("Content-Encoding", "identity")
    if packed.strip().lower() != "identity":
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            f"Send the body as it is, without Content-Encoding: {packed[:40]}.",
        )
    limit: int = current_app.config["CARILLON"].body_limit
    # One byte more, since a body in chunks is cut at the limit without a word.
    request.max_content_length = limit + 1
    try:
        body = request.get_data()
    except RequestEntityTooLarge as error:
        raise _too_large(limit) from error
    if len(body) > limit:
        raise _too_large(limit)
    return body


def _too_large(limit: int) -> ApiError:
    return ApiError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        f"The body may have at most {limit:,} bytes; send less, or several requests.",
        limit=limit,
    )


def parsed(body: bytes, kinds: Collection[str] = (JSON,)) -> Any:  # noqa: ANN401  # any JSON value
    """Return the JSON value in ``body``.

    Raises:
        ApiError: 415, the Content-Type is none of ``kinds``.
        JsonRefused: it is not JSON that we accept.
    """
    kind = request.mimetype
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if kind not in kinds or charset not in {"utf-8", "utf8"}:
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            f"The Content-Type must be {' or '.join(kinds)} in UTF-8, not "
            f"{request.content_type or 'missing'}.",
        )
    return loads(body)


def parsed_object(body: bytes, *, may_be_empty: bool) -> dict[str, Any]:
    """Return the JSON object in ``body``.

    Raises:
        ApiError: 415, or 422 when it is JSON but no object.
        JsonRefused: it is not JSON that we accept.
    """
    if may_be_empty and not body:
        return {}
    value = parsed(body)
    if not isinstance(value, dict):
        raise object_expected("an object")
    return value


def object_expected(what: str) -> ApiError:
    """Return the refusal of JSON whose outermost value is of another kind."""
    return ApiError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "object_expected",
        f"The body must be {what}, such as {{…}}.",
    )
