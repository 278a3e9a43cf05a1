"""Which fields a trigger offers to conditions, and what can be asked of each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from tasks.automation.condition_rows import Operator
from tasks.automation.triggers import Trigger
from tasks.models.booking import BookingStatus
from tasks.models.episode import EpisodeStatus

_EVENT: Final = ("event.type", "event.occurred_at")


class Kind(StrEnum):
    """What a field's values are."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    TOLD = "told"  # only the producer knows


_O = Operator
_ALWAYS: Final = (_O.EMPTY, _O.NOT_EMPTY)
_OF_TEXT: Final = (
    _O.IS,
    _O.IS_NOT,
    _O.CONTAINS,
    _O.CONTAINS_NOT,
    _O.STARTS_WITH,
    _O.ONE_OF,
)
#: The operators that fit each kind, in the order of the form's select.
OPERATORS: Final[Mapping[Kind, tuple[Operator, ...]]] = {
    Kind.TEXT: (*_OF_TEXT, *_ALWAYS),
    Kind.NUMBER: (_O.IS, _O.IS_NOT, _O.LESS, _O.MORE, _O.ONE_OF, *_ALWAYS),
    Kind.DATE: (_O.BEFORE, _O.AFTER, *_ALWAYS),
    Kind.TOLD: tuple(Operator),
}
_NUMBERS: Final = frozenset(
    {
        "booking.revision",
        "episode.episode_number",
        "engagement.revision",
        "engagement.outbound_count",
    }
)
#: Values whose members producers choose.
_OPEN: Final = "contact.metadata."
_DATE_ENDS: Final = ("_time", "_at", "_for")
#: Fields that have few values; another one would never be met.
_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "booking.status": tuple(BookingStatus),
    "episode.status": tuple(EpisodeStatus),
    "engagement.replied": ("true", "false"),
}


def fields_of(trigger: Trigger) -> tuple[str, ...]:
    """Return the fields that a trigger offers."""
    return trigger.variables + _EVENT


def is_told(field: str, trigger: Trigger) -> bool:
    """Whether only a producer's own context can have the field."""
    if field.startswith(_OPEN) and trigger.subject == "contact":
        return True
    root = field.partition(".")[0]
    return all(name.partition(".")[0] != root for name in fields_of(trigger))


def kind_of(field: str, trigger: Trigger) -> Kind:
    """Return what a field's values are."""
    if is_told(field, trigger):
        return Kind.TOLD
    if field in _NUMBERS:
        return Kind.NUMBER
    return Kind.DATE if field.endswith(_DATE_ENDS) else Kind.TEXT


def values_of(field: str) -> tuple[str, ...]:
    """Return the only values that a field can have; empty: there are too many."""
    return _VALUES.get(field, ())
