"""Finding a booking, an episode or a guest by name or id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from dashboard.zones import here, zone_sign
from tasks.automation.entities import KINDS, Kind, Record, kind_of, title_of
from tasks.idn import in_letters
from tasks.models import Booking, Congregation, Episode, EpisodeGuest, Rule
from tasks.saying import say
from tasks.saying.formats import dated
from tasks.search.conditions import any_contains

#: Records of each kind that a search shows.
HITS_MAX: Final = 20
#: The newest of each kind, among which a text is looked for.
LOOKED_AT: Final = 10_000
_Model = type[Booking] | type[Episode] | type[EpisodeGuest]
_Columns = tuple[InstrumentedAttribute[Any], ...]
#: Where each kind is looked for, what text is looked for in, and what is newest.
_WAYS: Final[
    Mapping[Kind, tuple[_Model, _Columns, InstrumentedAttribute[datetime]]]
] = {
    "booking": (
        Booking,
        (Booking.guest_name, Booking.guest_email, Booking.id),
        Booking.start_time,
    ),
    "episode": (Episode, (Episode.title, Episode.id), Episode.created_at),
    "guest": (
        EpisodeGuest,
        (EpisodeGuest.name, EpisodeGuest.email, EpisodeGuest.id),
        EpisodeGuest.created_at,
    ),
}
_Hits = Select[Record, str, str]


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
            day = dated(here(record.start_time), "d MMM y, HH:mm")
            start = f"{day} {zone_sign(record.start_time)}"
            email = in_letters(record.guest_email or "")
            return f"{start} · {email}" if email else start
        if isinstance(record, Episode):
            return (
                say("no. %(number)s", number=record.episode_number)
                if record.episode_number
                else ""
            )
        return in_letters(record.email or "")


def search(
    session: Session,
    text: str,
    kinds: Sequence[Kind] = KINDS,
    within: Rule | None = None,
    limit: int = HITS_MAX,
) -> list[Hit]:
    """Return records whose name, address or id has ``text`` in it, the newest first.

    One or two queries for each kind; an empty text finds the newest ones.  Looked for
    among the ``LOOKED_AT`` newest of each kind, and among all if it is a whole id.

    Args:
        within: only what this rule could be about.
        limit: how many of each kind.
    """
    found: list[Hit] = []
    for kind in kinds:
        hits = _hits(session, _newest(kind, text, within), limit)
        if text and not any(hit.record.id == text for hit in hits):
            hits += _hits(session, _of_id(kind, text, within), limit)
        found += hits
    return found


def _hits(session: Session, statement: _Hits, limit: int) -> list[Hit]:
    rows = session.execute(statement.limit(limit))
    return [Hit(record, slug, name) for record, slug, name in rows]


def _newest(kind: Kind, text: str, within: Rule | None) -> _Hits:
    model, columns, at = _WAYS[kind]
    window = select(model).where(*_within(model, within))
    window = window.order_by(at.desc(), model.id.desc()).limit(LOOKED_AT)
    rows: Any = aliased(model, window.subquery("newest"))
    is_found = any_contains([getattr(rows, each.key) for each in columns], text)
    order = (getattr(rows, at.key).desc(), rows.id.desc())
    return _with_owner(rows).where(is_found).order_by(*order)


def _of_id(kind: Kind, id_: str, within: Rule | None) -> _Hits:
    model, *_ = _WAYS[kind]
    # The key begins with the congregation: naming all of them lets it be used.
    everywhere = model.congregation_id.in_(select(Congregation.id))
    own = (everywhere, model.id == id_, *_within(model, within))
    return _with_owner(model).where(*own).order_by(model.congregation_id)


def _with_owner(rows: Any) -> _Hits:  # noqa: ANN401  # a model, or a part of its rows
    found = select(rows, Congregation.slug, Congregation.name)
    return found.join(Congregation, Congregation.id == rows.congregation_id)


def _within(model: _Model, rule: Rule | None) -> Iterator[ColumnElement[bool]]:
    """Yield what makes a record one that the rule could be about."""
    if rule is None:
        return
    yield model.congregation_id == rule.congregation_id
    if rule.podcast_ids is not None:
        yield model.podcast_id.in_(rule.podcast_ids)
