"""Lists of contacts as requests bring them: JSON, or a CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from flask import request

from dashboard.api.body import JSON, parsed
from dashboard.api.errors import ApiError
from tasks.outreach.contact_files import ContactFile
from tasks.outreach.reading_csv import read_csv

CSV: Final = "text/csv"


@dataclass(frozen=True, slots=True)
class ContactList:
    """The rows of a request, not checked yet."""

    rows: Sequence[Mapping[str, object]] | ContactFile


def read_list(body: bytes) -> ContactList:
    """Return the rows of a request's body.

    Raises:
        ApiError: 415, or 422 when it holds no list.
        JsonRefused: it is not JSON that we accept.
        InvalidInput: it cannot be read as a CSV file of contacts.
    """
    if request.mimetype == CSV:
        return ContactList(read_csv(body))
    return ContactList(_rows(parsed(body, (JSON, CSV))))


def _rows(value: Any) -> Sequence[Mapping[str, object]]:  # noqa: ANN401  # any JSON
    rows = value.get("contacts") if isinstance(value, dict) else None
    if (
        not isinstance(rows, list)
        or not all(isinstance(row, dict) for row in rows)
        or set(value) != {"contacts"}
    ):
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "list_expected",
            'The body must be {"contacts": [{"address": "…"}, …]}, or a CSV file sent '
            "as text/csv.",
        )
    return rows
