"""What a kind of operation has to say, and sentences that several share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.filters import number
from tasks.lane import COUNT_CAP


@dataclass(frozen=True, slots=True)
class Words:
    """How one kind of operation speaks."""

    verb: str
    icon: str
    tone: Literal["primary", "danger"]
    one: str  # a noun
    many: str
    happens: Callable[[int], str]  # to so many rows
    unfit: Callable[[int], str]  # what becomes of so many ticked rows
    stays: tuple[str, ...]  # what does not happen
    later: str  # what is left alone since nobody saw it
    done: str  # after a number
    missed: str  # after the number of those that were not changed
    nothing: tuple[str, str]
    changed: str  # what a changed row was, on the operation's page
    title: str  # of a whole operation

    def noun(self, n: int) -> str:
        """Return the noun for so many rows."""
        return self.one if n == 1 else self.many

    def counted(self, n: int) -> str:
        """Return how many of what, as in ``10 000+ executions``."""
        return f"{number(n, COUNT_CAP)} {self.noun(n)}"


def stay(n: int) -> str:
    """Return what so many rows do that cannot be changed."""
    return "stays as it is" if n == 1 else "stay as they are"


#: The noun of executions, for one and for many.
EXECUTIONS: Final = ("execution", "executions")
#: What is true of whatever may be sent by it.
GUARDED: Final = (
    "Each is checked again first: where the rule is switched off or the booking is "
    "cancelled, nothing is sent."
)
