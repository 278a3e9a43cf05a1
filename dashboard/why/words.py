"""Sentences about a booking, an episode or a guest: each has its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tasks.automation.entities import Kind
from tasks.saying import mark, say, say_many

#: What the kinds of records are called.
KIND_TITLES: Final[Mapping[Kind, str]] = {
    "booking": mark("Booking"),
    "episode": mark("Episode"),
    "guest": mark("Guest"),
}
_UNREPORTED: Final[Mapping[Kind, str]] = {
    "booking": mark("No event was ever reported for this booking"),
    "episode": mark("No event was ever reported for this episode"),
    "guest": mark("No event was ever reported for this guest"),
}
_NO_RULE: Final[Mapping[Kind, str]] = {
    "booking": mark("No rule is about bookings"),
    "episode": mark("No rule is about episodes"),
    "guest": mark("No rule is about guests"),
}


@dataclass(frozen=True, slots=True)
class Words:
    """What a page says of its kind of record, in the present language."""

    unreported: str  # nothing was ever told of it
    no_rule: str  # nothing waits for such records
    others: str  # how many rules wait for other things


def words_about(kind: Kind, n_other: int) -> Words:
    """Return what the page of a record says of its kind."""
    return Words(say(_UNREPORTED[kind]), say(_NO_RULE[kind]), _others(kind, n_other))


def _others(kind: Kind, n: int) -> str:
    match kind:
        case "booking":
            return say_many(
                n,
                "%(n)s rule waits for what happens to other things than bookings.",
                "%(n)s rules wait for what happens to other things than bookings.",
            )
        case "episode":
            return say_many(
                n,
                "%(n)s rule waits for what happens to other things than episodes.",
                "%(n)s rules wait for what happens to other things than episodes.",
            )
        case "guest":
            return say_many(
                n,
                "%(n)s rule waits for what happens to other things than guests.",
                "%(n)s rules wait for what happens to other things than guests.",
            )
