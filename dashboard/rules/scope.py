"""What a rule applies to, as a form says it: a congregation, or podcasts of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session
from wtforms import SelectChoice

from tasks.models import Congregation, Podcast
from tasks.models.base import EXTERNAL_ID_MAX
from tasks.saying import say

#: The select offers this many podcasts.
PODCASTS_MAX: Final = 500
#: The form's word for several podcasts; no producer's id holds this sign.
SEVERAL: Final = "*"


@dataclass(frozen=True, slots=True)
class RuleScope:
    """A congregation, and some podcasts of it or all of them."""

    congregation_id: UUID
    podcast_ids: tuple[str, ...] | None = None  # None: every podcast

    @classmethod
    def of(cls, text: str | None, chosen: Collection[str] = ()) -> RuleScope | None:
        """Read a form's value; None when it is none of ours.

        Args:
            chosen: the podcasts that are meant where the value says "several".

        >>> RuleScope.of("018f4c1e-7a00-7000-8000-000000000000/pod-1").podcast_ids
        ('pod-1',)
        >>> RuleScope.of("nonsense") is None
        True
        """
        congregation, _, podcast_id = (text or "").partition("/")
        if len(podcast_id) > EXTERNAL_ID_MAX or not podcast_id.isprintable():
            return None
        try:
            of = UUID(congregation)
        except ValueError:
            return None
        if podcast_id == SEVERAL:
            return cls(of, tuple(sorted(set(chosen))))
        return cls(of, (podcast_id,) if podcast_id else None)

    @property
    def podcast_id(self) -> str | None:
        """The podcast, when it is exactly one."""
        ids = self.podcast_ids
        return ids[0] if ids is not None and len(ids) == 1 else None

    @property
    def is_several(self) -> bool:
        """Whether the form has to name the podcasts one by one."""
        return self.podcast_ids is not None and len(self.podcast_ids) != 1

    def __str__(self) -> str:
        """Return the value that a form carries."""
        if self.podcast_ids is None:
            return str(self.congregation_id)
        podcast = SEVERAL if self.is_several else self.podcast_ids[0]
        return f"{self.congregation_id}/{podcast}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule may apply, with the words for it."""

    congregation_id: UUID
    podcast_id: str | None  # None: every podcast
    title: str  # the podcast's, or "Every podcast"
    congregation: str
    locale: str

    @property
    def value(self) -> str:
        """The value that a form carries."""
        ids = None if self.podcast_id is None else (self.podcast_id,)
        return str(RuleScope(self.congregation_id, ids))


def places(session: Session, congregation_id: UUID | None = None) -> list[Place]:
    """Return the congregations and podcasts that the session sees, by name.

    Args:
        congregation_id: only this congregation; None: all.
    """
    statement = (
        select(
            Congregation.id,
            Congregation.name,
            Congregation.locale,
            Podcast.id,
            Podcast.title,
        )
        .outerjoin(Podcast, Podcast.congregation_id == Congregation.id)
        .order_by(Congregation.name, Congregation.id, Podcast.title, Podcast.id)
        .limit(PODCASTS_MAX)
    )
    if congregation_id is not None:
        statement = statement.where(Congregation.id == congregation_id)
    found: list[Place] = []
    seen: UUID | None = None
    for owner_id, owner, locale, podcast_id, title in session.execute(statement):
        if owner_id != seen:
            seen = owner_id
            found.append(Place(owner_id, None, say("Every podcast"), owner, locale))
        if podcast_id is not None:
            found.append(Place(owner_id, podcast_id, title, owner, locale))
    return found


def scope_choices(
    found: Sequence[Place], *, several: bool = False
) -> list[SelectChoice]:
    """Return the options of a select; grouped when there are several congregations.

    Args:
        several: offer "Several podcasts" where a congregation has more than one.
    """
    n_places = Counter(place.congregation_id for place in found)
    is_one = len(n_places) < 2
    choices = []
    for place in found:
        of = None if is_one else place.congregation
        title = place.title
        if of and place.podcast_id is None:
            title = say("Every podcast of %(congregation)s", congregation=of)
        choices.append(SelectChoice(place.value, title, optgroup=of))
        if several and place.podcast_id is None and n_places[place.congregation_id] > 2:
            value = f"{place.congregation_id}/{SEVERAL}"
            title = (
                say("Several podcasts of %(congregation)s", congregation=of)
                if of
                else say("Several podcasts")
            )
            choices.append(SelectChoice(value, title, optgroup=of))
    return choices


def podcasts_of(found: Sequence[Place], congregation_id: UUID) -> list[Place]:
    """Return a congregation's podcasts among the places."""
    return [
        place
        for place in found
        if place.congregation_id == congregation_id and place.podcast_id is not None
    ]


def locale_of(found: Sequence[Place], scope: RuleScope | None) -> str:
    """Return the language of a scope's congregation; English when it is not found."""
    of = scope.congregation_id if scope else None
    return next((place.locale for place in found if place.congregation_id == of), "en")


def applies_to(titles: Sequence[str], limit: int = 2) -> str:
    """Return the podcasts of a rule in words.

    Args:
        limit: so many are named; the others are counted.

    >>> applies_to([]), applies_to(["Bells"])
    ('Every podcast', 'Bells')
    >>> applies_to(["Bells", "Voices", "Talks", "Songs"])
    'Bells, Voices and 2 more'
    """
    if not titles:
        return say("Every podcast")
    named, rest = titles[:limit], len(titles) - limit
    if rest > 0:
        return say("%(named)s and %(n)s more", named=", ".join(named), n=rest)
    if len(named) == 1:
        return named[0]
    return say("%(named)s and %(last)s", named=", ".join(named[:-1]), last=named[-1])
