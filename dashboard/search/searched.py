"""What the console knows of a list that can be searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dashboard.security import RoleWord
from tasks.search.fields import Fields
from tasks.search.lists import LISTS
from tasks.search.plain_lists import PLAIN


@dataclass(frozen=True, slots=True)
class Searched:
    """A list that can be searched."""

    #: In addresses; the key of ``tasks.search.lists.LISTS``, or of ``PLAIN``.
    word: str
    title: str  # marked
    counted: Callable[[int, str], str]  # so many of its rows, the number as it is shown
    many: str  # marked
    endpoint: str
    #: Fields that the list's own filter has as well -> what they are called there.
    lifts: Mapping[str, str]
    box: str = "q"  # what the search is called in the list's address
    tab: str = "state"  # what the open tab is called there
    role: RoleWord = "viewer"  # who may see it
    #: Of a list within a thing: what its address is called by, besides the search.
    place: tuple[str, ...] = ()

    @property
    def fields(self) -> Fields:
        """What may be asked for."""
        return PLAIN[self.word].fields if self.word in PLAIN else LISTS[self.word]

    @property
    def has_window(self) -> bool:
        """Whether some fields look at the newest rows only."""
        return self.word not in PLAIN or bool(PLAIN[self.word].order)
