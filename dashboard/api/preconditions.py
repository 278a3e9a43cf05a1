"""ETag and If-Match: who changes what somebody else has changed gets a 412."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

from flask import request

from dashboard.api.errors import ApiError
from tasks.errors import Conflict
from tasks.outreach.versions import VERSION_MISMATCH, Expected

#: No version is longer, and Python refuses to read numbers of thousands of digits.
_DIGITS_MAX: Final = 18


def etag(version: int) -> dict[str, str]:
    """Return the header that tells a row's version."""
    return {"ETag": f'"{version}"'}


def expected_version() -> Expected | None:
    """Return what the request's If-Match accepts; ``None``: it has none.

    What is none of our tags matches no row.
    """
    if "If-Match" not in request.headers:
        return None
    tags = request.if_match
    if tags.star_tag:
        return "*"
    texts = tags.as_set(include_weak=False)
    return frozenset(int(tag) for tag in texts if _is_version(tag))


def _is_version(tag: str) -> bool:
    return tag.isascii() and tag.isdigit() and len(tag) <= _DIGITS_MAX


@contextmanager
def preconditions() -> Iterator[None]:
    """Answer a version that differs with 412.

    Raises:
        ApiError: 412.
    """
    try:
        yield
    except Conflict as error:
        if error.code != VERSION_MISMATCH:
            raise
        raise ApiError(
            HTTPStatus.PRECONDITION_FAILED, error.code, error.message
        ) from error
