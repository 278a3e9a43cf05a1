"""Finding a booking, an episode or a guest by name or id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.automation.entities import KINDS, Kind, Record, kind_of, title_of
from tasks.models import Booking, Congregation, Episode, EpisodeGuest, Rule
from tasks.saying import say
from tasks.saying.formats import dated

#: Records of each kind that a search shows.
HITS_MAX: Final = 20
_Model = type[Booking] | type[Episode] | type[EpisodeGuest]
_Columns = tuple[InstrumentedAttribute[Any], ...]
#: Where each kind is looked for, what text is looked for in, and what is newest.
_WAYS: Final[Mapping[Kind, tuple[_Model, _Columns, ColumnElement[datetime]]]] = {
    "booking": (
        Booking,
        (Booking.guest_name, Booking.guest_email, Booking.id),
        Booking.start_time.desc(),
    ),
    "episode": (Episode, (Episode.title, Episode.id), Episode.created_at.desc()),
    "guest": (
        EpisodeGuest,
        (EpisodeGuest.name, EpisodeGuest.email, EpisodeGuest.id),
        EpisodeGuest.created_at.desc(),
    ),
}


@dataclass(frozen=True, slots=True)
class Hit:
    """One record that was found."""

    record: Record
    slug: str  # of its congregation
    congregation: str

    @property
    def kind(self) -> Kind:
        """What it is."""
        return kind_of(self.record)

    @property
    def title(self) -> str:
        """What it is called."""
        return title_of(self.record)

    @property
    def note(self) -> str:
        """What tells it from others of the same name."""
        record = self.record
        if isinstance(record, Booking):
            start = f"{dated(record.start_time, 'd MMM y, HH:mm')} UTC"
            return f"{start} · {record.guest_email}" if record.guest_email else start
        if isinstance(record, Episode):
            return (
                say("no. %(number)s", number=record.episode_number)
                if record.episode_number
                else ""
            )
        return record.email or ""


def search(
    session: Session,
    text: str,
    kinds: Sequence[Kind] = KINDS,
    within: Rule | None = None,
    limit: int = HITS_MAX,
) -> list[Hit]:
    """Return records whose name, address or id has ``text`` in it, the newest first.

    One query for each kind; an empty text finds the newest ones.

    Args:
        within: only what this rule could be about.
        limit: how many of each kind.
    """
    chosen = [_WAYS[kind] for kind in kinds]
    found: list[Hit] = []
    for model, columns, newest in chosen:
        owner = (Congregation.slug, Congregation.name)
        statement = _narrow(select(model, *owner), model, text, columns, within)
        rows = session.execute(statement.order_by(newest, model.id).limit(limit))
        found += [Hit(record, slug, name) for record, slug, name in rows]
    return found


def _narrow(
    statement: Select[Any, str, str],
    model: _Model,
    text: str,
    columns: _Columns,
    within: Rule | None,
) -> Select[Any, str, str]:
    conditions: list[ColumnElement[bool]] = []
    if text:
        conditions.append(or_(*(c.icontains(text, autoescape=True) for c in columns)))
    if within is not None:
        conditions.append(model.congregation_id == within.congregation_id)
        if within.podcast_ids is not None:
            conditions.append(model.podcast_id.in_(within.podcast_ids))
    return statement.join(Congregation, Congregation.id == model.congregation_id).where(
        *conditions
    )
