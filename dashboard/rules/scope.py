"""What a rule applies to, as one value of a form: a congregation, or its podcast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session
from wtforms import SelectChoice

from tasks.models import Congregation, Podcast
from tasks.models.base import EXTERNAL_ID_MAX

#: The select offers this many podcasts.
PODCASTS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class RuleScope:
    """A congregation, and one podcast of it or all of them."""

    congregation_id: UUID
    podcast_id: str | None = None  # None: every podcast of the congregation

    @classmethod
    def of(cls, text: str | None) -> RuleScope | None:
        """Read a form's value; None when it is none of ours.

        >>> RuleScope.of("018f4c1e-7a00-7000-8000-000000000000/pod-1").podcast_id
        'pod-1'
        >>> RuleScope.of("nonsense") is None
        True
        """
        congregation, _, podcast_id = (text or "").partition("/")
        if len(podcast_id) > EXTERNAL_ID_MAX or not podcast_id.isprintable():
            return None
        try:
            return cls(UUID(congregation), podcast_id or None)
        except ValueError:
            return None

    def __str__(self) -> str:
        """Return the value that a form carries."""
        return "/".join(
            filter(None, (str(self.congregation_id), self.podcast_id or ""))
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule may apply, with the words for it."""

    scope: RuleScope
    title: str  # the podcast's, or "Every podcast"
    congregation: str
    locale: str


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
            found.append(Place(RuleScope(owner_id), "Every podcast", owner, locale))
        if podcast_id is not None:
            found.append(Place(RuleScope(owner_id, podcast_id), title, owner, locale))
    return found


def scope_choices(found: Sequence[Place]) -> list[SelectChoice]:
    """Return the options of a select; grouped when there are several congregations."""
    if len({place.scope.congregation_id for place in found}) < 2:
        return [SelectChoice(str(place.scope), place.title) for place in found]
    return [
        SelectChoice(
            str(place.scope),
            place.title
            if place.scope.podcast_id
            else f"{place.title} of {place.congregation}",
            optgroup=place.congregation,
        )
        for place in found
    ]


def locale_of(found: Sequence[Place], scope: RuleScope | None) -> str:
    """Return the language of a place's congregation; English when it is not found."""
    return next((place.locale for place in found if place.scope == scope), "en")
