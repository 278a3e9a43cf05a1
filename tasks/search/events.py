"""What a search of events means: names are looked up first, events are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from tasks.models import Event
from tasks.operations.event_subjects import about
from tasks.search import conditions as mean
from tasks.search.anywhere import PODCAST
from tasks.search.conditions import SEARCH_WINDOW, Meaning, Meanings, conditions
from tasks.search.lists import EVENTS
from tasks.search.parsing import parse
from tasks.search.window import is_among_first

_OF_SUBJECTS: Final = ("guest", "episode", "booking", "contact")
_OF_EVENTS: Final[dict[str, Meaning]] = {
    "type": mean.equals(Event.type),
    "podcast": mean.named(Event, PODCAST),
    "source": mean.contains(Event.source),
    "heard": mean.moment(Event.created_at),
    "happened": mean.moment(Event.occurred_at),
    "congregation": mean.in_congregation(Event.congregation_id),
    "id": mean.is_id(Event.id),
}
_EARLY: Final = frozenset({*_OF_SUBJECTS, "type", "heard", "congregation", "id"})


def event_conditions(
    session: Session, query: str, others: Sequence[ColumnElement[bool]]
) -> list[ColumnElement[bool]]:
    """Return what a search asks of each event.

    Args:
        session: where names are looked up.
        query: the search's terms.
        others: what else must hold; the window is taken from what they leave.

    Raises:
        InvalidInput: ``bad_search``.
    """
    of_subjects: dict[str, Meaning] = {
        name: _about(session, name) for name in _OF_SUBJECTS
    }
    meanings = Meanings({**_OF_EVENTS, **of_subjects}, _EARLY)
    found = conditions(parse(query, EVENTS), meanings)
    if not found.late:
        return found.early
    newest = (
        select(Event.id)
        .where(*others, *found.early)
        .order_by(Event.created_at.desc(), Event.id.desc())
        .limit(SEARCH_WINDOW)
    )
    return [is_among_first(Event.id, newest), *found.late]


def _about(session: Session, kind: str) -> Meaning:
    # Who a booking is for is its guest as well, whatever the producer tells of guests.
    kinds = ("guest", "booking") if kind == "guest" else (kind,)
    return lambda term: or_(*(about(session, f"{one}:{term.value}") for one in kinds))
