"""What a type of notification is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal

#: How a value of a payload is written in a mail.
Field = Literal["text", "number", "date", "instant"]
#: What an entity is like when the mail leaves, as ``entities.py`` reads it.
Facts = Mapping[str, Any]

#: A notification that gets more of the same waits so many windows, and no longer.
WAITS_MAX: Final = 6
WAIT_MAX: Final = timedelta(minutes=60)


def said(text: str) -> str:
    """Mark a text for the catalogs."""
    return text


@dataclass(frozen=True, slots=True)
class Kind:
    """One type of notification."""

    type: str
    title: str  # for operators and for the choice of preferences
    heading: str  # above its lines in a digest
    subject: str  # of a mail that has only this
    line: str  # with {values} of the payload and of the entity
    entity: str  # the type of what it is about; see ``entities.READERS``
    fields: Mapping[str, Field] = field(default_factory=dict)
    window: timedelta = timedelta(0)  # settles so long after the last of its kind
    duty: str | None = None  # whom it goes to unless somebody is named
    cancels: tuple[str, ...] = ()  # types that have no point any more
    #: Whether nothing is told when something was cancelled: nobody had heard of it.
    is_silent_after: bool = False
    #: About something that the recipient asked for: no preference stops it.
    transactional: bool = False
    tells_actor: bool = False  # who did it waits for the news
    holds: Callable[[Facts], bool] | None = None  # whether it is still so

    @property
    def category(self) -> str:
        """What a digest collects: the type up to its dot."""
        return self.type.partition(".")[0]

    @property
    def longest(self) -> timedelta:
        """How long it settles at most."""
        return min(WAITS_MAX * self.window, WAIT_MAX)
