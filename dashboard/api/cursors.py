"""Pages of the API's lists whose cursors belong to their filters."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from sqlalchemy import Select
from sqlalchemy.orm import Session

from dashboard.api.errors import ApiError
from dashboard.api.models.outreach import Paged
from dashboard.paging import Key, Page, paginate
from tasks.errors import InvalidInput

_DIGEST_LENGTH: Final = 12


def page_of(
    session: Session,
    statement: Select[*tuple[Any, ...]],
    keys: Sequence[Key],
    query: Paged,
) -> Page[Any]:
    """Return the page that ``query.cursor`` points to.

    A cursor that was given out for other filters would leave rows out, so it is
    refused.

    Raises:
        ApiError: 400, the cursor is none of ours, or of another list.
    """
    mark = _mark(query)
    cursor = query.cursor
    if cursor is not None:
        given, _, cursor = cursor.partition(".")
        if given != mark:
            raise _refused(
                "This cursor belongs to other filters; send those with it, or begin "
                "without a cursor."
            )
    try:
        page = paginate(session, statement, keys, cursor, query.limit)
    except InvalidInput as error:
        raise _refused(error.message) from error
    following = page.next_cursor and f"{mark}.{page.next_cursor}"
    return Page(page.rows, following, None)


def _mark(query: Paged) -> str:
    told = query.model_dump_json(exclude={"cursor", "limit"})
    kind = type(query).__name__
    digest = hashlib.sha256(f"{kind}{told}".encode()).hexdigest()
    return digest[:_DIGEST_LENGTH]


def _refused(sentence: str) -> ApiError:
    return ApiError(HTTPStatus.BAD_REQUEST, "cursor_invalid", sentence)
