"""A gentle trickle of new events, as a producer's application would report them."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from dashboard.demo.parish import SLUG, TIMEZONE
from dashboard.demo.people import GUESTS, SHOWS, TITLES
from tasks.automation import bookings, episodes
from tasks.automation.events import emit_guest_event
from tasks.clock import utcnow
from tasks.db import Begin
from tasks.models import (
    Booking,
    BookingStatus,
    Congregation,
    Episode,
    EpisodeStatus,
    new_id,
)

logger = logging.getLogger(__name__)

#: Seconds between two events.
PAUSE: Final = (10.0, 20.0)
#: At most so many bookings wait for an answer; then one is answered first.
_WAITING_MAX: Final = 3

Deed = Callable[[Session, UUID, datetime], str | None]


class Trickle:
    """Does one small thing now and then, until it is told to stop."""

    def __init__(self, begin: Begin, chance: random.Random) -> None:
        self._begin = begin
        self._chance = chance

    def run(self, stopping: threading.Event) -> None:
        """Go on until ``stopping`` is set; a database that is away is waited for."""
        while not stopping.wait(self._chance.uniform(*PAUSE)):
            try:
                self.tick(utcnow())
            except SQLAlchemyError:
                logger.warning("demo.database_away", exc_info=True)

    def tick(self, now: datetime) -> str | None:
        """Do one thing; returns what, or ``None`` when there was nothing to do."""
        with self._begin() as session:
            parish = session.scalars(
                select(Congregation.id).where(Congregation.slug == SLUG)
            ).one()
            done = self._deed(session, parish)(session, parish, now)
        if done is not None:
            logger.info("demo.event", extra={"what": done})
        return done

    def _deed(self, session: Session, parish: UUID) -> Deed:
        n_waiting = session.scalar(
            select(func.count())
            .select_from(Booking)
            .where(
                Booking.congregation_id == parish,
                Booking.status == BookingStatus.REQUESTED,
            )
        )
        if (n_waiting or 0) > _WAITING_MAX:
            return self._confirm
        deeds: list[Deed] = [
            self._request,
            self._confirm,
            self._move,
            self._call_off,
            self._respond,
            self._publish,
        ]
        return self._chance.choices(deeds, weights=[4, 4, 2, 1, 3, 1])[0]

    def _request(self, session: Session, parish: UUID, now: datetime) -> str:
        show, guest = self._chance.choice(SHOWS), self._chance.choice(GUESTS)
        start = (now + timedelta(days=self._chance.randint(1, 14))).replace(
            minute=self._chance.choice((0, 15, 30)), second=0, microsecond=0
        )
        # UUIDs of one moment begin alike; their ends differ.
        name = new_id().hex[-8:]
        episodes.save_episode(
            session,
            parish,
            f"e-{name}",
            podcast_id=show.id,
            title=self._chance.choice(TITLES),
            now=now,
        )
        bookings.save_booking(
            session,
            parish,
            f"b-{name}",
            podcast_id=show.id,
            booking_link_id=self._chance.choice(show.links)[0],
            episode_id=f"e-{name}",
            guest_id=guest.id,
            guest_name=guest.name,
            guest_email=guest.email,
            guest_phone=guest.phone,
            start_time=start,
            end_time=start + timedelta(minutes=45),
            timezone=TIMEZONE,
            now=now,
        )
        return f"{guest.name} asks for a booking"

    def _confirm(self, session: Session, parish: UUID, now: datetime) -> str | None:
        row = self._booking(session, parish, now, BookingStatus.REQUESTED)
        if row is None:
            return None
        bookings.confirm(session, parish, row.id, now=now)
        return f"the booking of {row.guest_name} is confirmed"

    def _move(self, session: Session, parish: UUID, now: datetime) -> str | None:
        row = self._booking(session, parish, now, BookingStatus.CONFIRMED)
        if row is None:
            return None
        hours = self._chance.choice((1, 2, 24, 48))
        later = row.start_time + timedelta(hours=hours)
        bookings.reschedule(session, parish, row.id, later, now=now)
        return f"the booking of {row.guest_name} moves by {hours} hours"

    def _call_off(self, session: Session, parish: UUID, now: datetime) -> str | None:
        row = self._booking(session, parish, now, BookingStatus.CONFIRMED)
        if row is None:
            return None
        bookings.cancel(session, parish, row.id, now=now)
        return f"{row.guest_name} calls off"

    def _respond(self, session: Session, parish: UUID, now: datetime) -> str:
        guest, show = self._chance.choice(GUESTS), self._chance.choice(SHOWS)
        emit_guest_event(
            session,
            "guest.responded",
            guest.id,
            None,
            show.id,
            congregation_id=parish,
            now=now,
        )
        return f"{guest.name} responds"

    def _publish(self, session: Session, parish: UUID, now: datetime) -> str | None:
        row = session.scalar(
            select(Episode)
            .where(
                Episode.congregation_id == parish,
                Episode.status == EpisodeStatus.SCHEDULED,
            )
            .order_by(Episode.scheduled_for)
            .limit(1)
        )
        if row is None:
            return None
        episodes.publish(session, parish, row.id, now=now)
        return f"“{row.title}” is published"

    def _booking(
        self, session: Session, parish: UUID, now: datetime, status: BookingStatus
    ) -> Booking | None:
        """Return a coming booking with this status, any of the next twenty."""
        rows = session.scalars(
            select(Booking)
            .where(
                Booking.congregation_id == parish,
                Booking.status == status,
                Booking.start_time > now,
            )
            .order_by(Booking.start_time)
            .limit(20)
        ).all()
        return self._chance.choice(rows) if rows else None
