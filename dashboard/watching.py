"""Rows of a list that still change by themselves, asked for again one by one.

Only they are asked for, never the table: what an operator selected, opened or reads
stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

from flask import request, url_for

from dashboard.web import is_htmx
from tasks.errors import InvalidInput
from tasks.saying import say

#: Rows that one request asks for; an address with more would be too long.
ROWS_MAX: Final = 50
_SOON_EVERY: Final = 2  # seconds
_LATER_EVERY: Final = 10  # seconds


class Watched(Protocol):
    """A row that may change by itself."""

    @property
    def version(self) -> str:
        """The row's id, a dot, and what changes when the row looks different."""

    @property
    def is_live(self) -> bool:
        """Whether it still changes by itself."""

    def is_soon(self, now: datetime) -> bool:
        """Whether that is about to happen."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What to ask for next."""

    url: str
    every: int  # seconds


def watch(
    endpoint: str,
    lines: Sequence[Watched],
    query: Mapping[str, Any],
    *,
    now: datetime,
    newest: datetime | None = None,
) -> Watch | None:
    """Return what a list asks for next; None: nothing on it changes any more.

    Args:
        endpoint: what answers.
        lines: the rows that are shown.
        query: the filter of the list, as query values.
        now: the current instant.
        newest: when the newest row on the page was made; None: the page does not show
            the newest ones, so it does not tell of newer ones either.
    """
    live = sorted(
        (line for line in lines if line.is_live),
        key=lambda line: not line.is_soon(now),
    )
    if not live and newest is None:
        return None
    return Watch(
        url_for(
            endpoint,
            **dict(query),
            row=[line.version for line in live[:ROWS_MAX]],
            newest=newest and newest.isoformat(),
        ),
        _SOON_EVERY if live and live[0].is_soon(now) else _LATER_EVERY,
    )


def asked(rows: Sequence[str]) -> dict[UUID, str]:
    """Return the versions that a page shows, by id.

    Raises:
        InvalidInput: ``bad_rows``, they are none of ours.
    """
    try:
        return {UUID(row.partition(".")[0]): row for row in rows[:ROWS_MAX]}
    except ValueError as error:
        raise InvalidInput(
            "bad_rows", say("This page cannot be kept up to date; reload it.")
        ) from error


def is_unchanged(line: Watched) -> bool:
    """Whether the page that asks shows the row as it is: then nothing is replaced.

    So a question that is open, or text that is marked, stays.
    """
    return is_htmx() and request.args.get("seen") == line.version
