"""What a message does: the booking, its events and its planning, in one transaction.

The same message twice changes nothing, and an older one does not undo a newer one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation import bookings
from tasks.automation.results import Changed
from tasks.errors import Conflict
from tasks.models.booking import Booking, BookingStatus
from tasks.models.source import CallOutcome, ExternalBooking, Source
from tasks.saying import mark
from tasks.sources.known import locked
from tasks.sources.told import Told, Verb

_LIVING: Final = frozenset({BookingStatus.REQUESTED, BookingStatus.CONFIRMED})
#: What operators read about a message that changed something.
_DONE: Final = {
    Verb.REQUESTED: mark("The booking is requested."),
    Verb.CONFIRMED: mark("The booking is confirmed."),
    Verb.RESCHEDULED: mark("The booking has moved."),
    Verb.CANCELLED: mark("The booking is cancelled."),
    Verb.DECLINED: mark("The booking is declined."),
}


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a message."""

    outcome: CallOutcome
    sentence: str
    booking_id: str | None = None


def apply(session: Session, source: Source, told: Told, *, now: datetime) -> Applied:
    """Bring the booking to where the service says it is; the caller commits.

    Raises:
        InvalidInput: the message holds a value that cannot be kept.
    """
    link = _booking_link(source, told)
    if link is None and source.only_listed:
        name = told.event_types[0] if told.event_types else "none"
        return Applied(
            CallOutcome.IGNORED, f"The event type “{name}” is not listed for it."
        )
    ids = [told.external_id] + ([told.former_id] if told.former_id else [])
    known = locked(session, source.congregation_id, source.kind, ids)
    own = known[told.external_id]
    former = known[told.former_id] if told.former_id else None
    if own.is_superseded or (own.told_at is not None and told.at < own.told_at):
        _let_go(session, own, former, now)
        return _ignored(
            own, mark("A newer call about this booking came before this one.")
        )
    if (own.told_at, own.verb) == (told.at, told.verb):
        return Applied(
            CallOutcome.UNCHANGED, mark("This call was known already."), own.booking_id
        )
    try:
        with session.begin_nested():
            changed = _Move(session, source, told, link, now).make(own, former)
    except Conflict as conflict:
        return _ignored(own, conflict.message)
    own.told_at, own.verb = told.at, told.verb
    session.flush()
    if changed:
        return Applied(CallOutcome.APPLIED, _DONE[told.verb], own.booking_id)
    return Applied(CallOutcome.UNCHANGED, mark("Nothing new in it."), own.booking_id)


class _VerbOfOurs(Protocol):
    def __call__(
        self,
        session: Session,
        congregation_id: UUID | None,
        booking_id: str,
        *,
        now: datetime | None = None,
    ) -> Changed[Booking]: ...


@dataclass(frozen=True, slots=True)
class _Move:
    """One message on its way into one booking."""

    session: Session
    source: Source
    told: Told
    link: str | None
    now: datetime

    def make(self, own: ExternalBooking, former: ExternalBooking | None) -> bool:
        """Return whether anything changed.

        Raises:
            Conflict: the booking's state here does not allow it.
            InvalidInput: a value cannot be kept.
        """
        if former is not None:
            self._follow(own, former)
        verb = self.told.verb
        is_new = self._find(own) is None
        if verb is Verb.CANCELLED or verb is Verb.DECLINED:
            saved = self._save(own) if is_new else False
            end = bookings.cancel if verb is Verb.CANCELLED else bookings.decline
            return self._changed(end, own) or saved
        saved = self._save(own)
        if verb is Verb.REQUESTED:
            return saved
        return self._changed(bookings.confirm, own) or saved

    def _follow(self, own: ExternalBooking, former: ExternalBooking) -> None:
        """Let the new id mean the booking that the former one meant."""
        asks_again = self.told.verb is Verb.REQUESTED  # the host must say yes again
        if former.told_at is None:  # it was booked before we listened
            former.booking_id = own.booking_id
        elif not former.is_superseded and own.told_at is None and not asks_again:
            own.booking_id = former.booking_id
        _let_go(self.session, own, former, self.now)

    def _find(self, own: ExternalBooking) -> Booking | None:
        return self.session.get(Booking, (own.congregation_id, own.booking_id))

    def _save(self, own: ExternalBooking) -> bool:
        values = self.told.values()
        values["podcast_id"] = self.source.podcast_id
        if self.link is not None:
            values["booking_link_id"] = self.link
        return bookings.save_booking(
            self.session,
            own.congregation_id,
            own.booking_id,
            now=self.now,
            **values,
        ).changed

    def _changed(self, verb: _VerbOfOurs, own: ExternalBooking) -> bool:
        return verb(
            self.session, own.congregation_id, own.booking_id, now=self.now
        ).changed


def _let_go(
    session: Session,
    own: ExternalBooking,
    former: ExternalBooking | None,
    now: datetime,
) -> None:
    """End the booking of an id that another has taken over, unless it moved along."""
    if former is None or former.is_superseded:
        return
    former.is_superseded = True
    session.flush()
    if former.booking_id == own.booking_id:
        return
    row = session.get(Booking, (former.congregation_id, former.booking_id))
    if row is not None and row.status in _LIVING:
        bookings.cancel(session, row.congregation_id, row.id, now=now)


def _booking_link(source: Source, told: Told) -> str | None:
    listed = {name.casefold(): link for name, link in source.event_types.items()}
    names = (name.casefold() for name in told.event_types)
    return next((str(listed[name]) for name in names if name in listed), None)


def _ignored(own: ExternalBooking, sentence: str) -> Applied:
    return Applied(CallOutcome.IGNORED, sentence, own.booking_id)
