"""The rows of a list of contacts: each checked alone, before any is taken over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tasks.automation.fields import checked
from tasks.errors import InvalidInput
from tasks.outreach.checks import CONTACT, ENGAGEMENT, checked_address
from tasks.saying import mark, say

ROWS_MAX: Final = 1_000
#: Fields of a row that belong to the engagement.
_OF_ENGAGEMENT: Final = frozenset({"stage", "next_action_at"})


class RowOutcome(StrEnum):
    """What became of one row."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # known, and known ones stay as they are
    REFUSED = "refused"


#: In these words pages tell how many rows came to each end.
WORDS: Final = (
    mark("%(n)s created"),
    mark("%(n)s changed"),
    mark("%(n)s unchanged"),
    mark("%(n)s skipped"),
    mark("%(n)s refused"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One row and what became of it."""

    number: int  # counted from 1
    address: str  # as it was given, when it is refused
    outcome: RowOutcome
    error: InvalidInput | None = None


@dataclass(frozen=True, slots=True)
class How:
    """How a list is to be taken over."""

    merge: bool = True  # change those that are known; else leave them
    agent: str | None = None  # enrol every contact for this agent; None: for nobody
    filename: str = ""


@dataclass(frozen=True, slots=True)
class ListRow:
    """A row that can be taken over."""

    number: int
    address: str
    contact: Mapping[str, Any]
    engagement: Mapping[str, Any]


def check_size(rows: Sequence[object]) -> None:
    """Refuse a list that is empty or too long.

    Raises:
        InvalidInput: it is.
    """
    if not rows:
        raise InvalidInput(
            "empty_list", say("The list has no contacts."), field="contacts"
        )
    if len(rows) > ROWS_MAX:
        raise InvalidInput(
            "too_many_rows",
            say(
                "The list has %(n)s contacts; at most %(max)s are taken at "
                "once, so split it.",
                n=len(rows),
                max=ROWS_MAX,
            ),
            field="contacts",
        )


def read_rows(
    rows: Sequence[Mapping[str, object]], *, enrols: bool
) -> list[ListRow | Line]:
    """Check every row alone; of two with one address the first counts."""
    found: list[ListRow | Line] = []
    seen: dict[str, int] = {}
    for number, given in enumerate(rows, 1):
        try:
            row = checked_row(number, given, enrols=enrols)
            if (first := seen.setdefault(row.address, number)) != number:
                raise InvalidInput(
                    "listed_twice",
                    say("Row %(place)s has the same address.", place=first),
                    field="address",
                )
        except InvalidInput as error:
            address = str(given.get("address") or "")[:254]
            found.append(Line(number, address, RowOutcome.REFUSED, error))
        else:
            found.append(row)
    return found


def checked_row(number: int, given: Mapping[str, object], *, enrols: bool) -> ListRow:
    """Check one row.

    Raises:
        InvalidInput: it cannot be taken over.
    """
    values = {name: value for name, value in given.items() if name != "address"}
    about = {name: values.pop(name) for name in _OF_ENGAGEMENT & values.keys()}
    if about and not enrols:
        raise InvalidInput(
            "no_agent",
            say(
                "A stage or a next action belongs to an agent's engagement; say which "
                "agent enrols these contacts."
            ),
            field=min(about),
        )
    return ListRow(
        number,
        checked_address(given.get("address"), "address"),
        checked(values, CONTACT),
        checked(about, ENGAGEMENT),
    )
