"""What is in the calendar: the bookings and episodes that time rules count from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, literal, select
from sqlalchemy.orm import Session

from tasks.automation.lateness import due_at
from tasks.automation.planner import Subject
from tasks.automation.records import chunks
from tasks.automation.subjects import of_bookings, of_episodes
from tasks.automation.triggers import TRIGGERS
from tasks.models.booking import Booking, BookingStatus
from tasks.models.episode import Episode, EpisodeStatus
from tasks.models.rule import Rule

#: Counting stops here: a form says "or more".
COMING_CAP: Final = 10_000


def count_coming(
    session: Session,
    congregation_id: UUID,
    podcast_ids: Collection[str] | None,
    trigger_type: str,
    *,
    now: datetime,
) -> int:
    """Return how many bookings or episodes are in the calendar for a time trigger.

    At most ``COMING_CAP``, which means that or more; 0 for a trigger without a date.
    """
    trigger = TRIGGERS.get(trigger_type)
    if trigger is None or trigger.reference is None:
        return 0
    if trigger.reference == "publish":
        coming = select(Episode.id).where(
            *_of(Episode, congregation_id, podcast_ids), _goes_out_after(now)
        )
    else:
        coming = select(Booking.id).where(
            *_of(Booking, congregation_id, podcast_ids),
            Booking.status == BookingStatus.CONFIRMED,
            Booking.start_time > now,
        )
    capped = coming.limit(COMING_CAP).subquery()
    return session.scalar(select(func.count()).select_from(capped)) or 0


def coming(session: Session, rule: Rule, now: datetime) -> list[Subject]:
    """Return what a time rule applies to, where its time is still ahead."""
    found: list[Subject] = []
    bookings, episodes = bookings_of(rule, now), episodes_of(rule, now)
    if bookings is not None:
        found += _of_bookings(session, bookings)
    if episodes is not None:
        found += _of_episodes(session, episodes)
    return [subject for subject in found if is_ahead(subject, rule, now)]


def n_within_reach(session: Session, rule: Rule, now: datetime, limit: int) -> int:
    """Return how many bookings and episodes ``coming`` reads of a rule's podcasts.

    More than are coming, where a rule acts long after its date.  Counting stops at
    ``limit`` of each.
    """
    if not TRIGGERS[rule.trigger_type].is_time:
        return 0
    found = 0
    for read in (bookings_of(rule, now), episodes_of(rule, now)):
        if read is not None:
            some = read.with_only_columns(literal(1).label("one")).limit(limit)
            counted = select(func.count()).select_from(some.subquery())
            found += session.scalar(counted) or 0
    return found


def bookings_of(rule: Rule, now: datetime) -> Select[Booking] | None:
    """Select the bookings that a rule may apply to; None when it is not about them."""
    reference = TRIGGERS[rule.trigger_type].reference
    if reference == "publish":
        return None
    date = Booking.start_time if reference == "recording" else Booking.confirmed_at
    return select(Booking).where(
        *_of(Booking, rule.congregation_id, rule.podcast_ids),
        Booking.status == BookingStatus.CONFIRMED,
        date > now - _reach(rule),
    )


def episodes_of(rule: Rule, now: datetime) -> Select[Episode] | None:
    """Select the episodes that a rule may apply to; None when it is not about them."""
    reference = TRIGGERS[rule.trigger_type].reference
    if reference == "booking":
        return None
    since = now - _reach(rule)
    is_dated = (
        Episode.recording_at > since
        if reference == "recording"
        else _goes_out_after(since)
    )
    of = _of(Episode, rule.congregation_id, rule.podcast_ids)
    return select(Episode).where(*of, is_dated)


def _of(
    model: type[Booking] | type[Episode],
    congregation_id: UUID,
    podcast_ids: Collection[str] | None,
) -> list[ColumnElement[bool]]:
    of = [model.congregation_id == congregation_id]
    return of if podcast_ids is None else [*of, model.podcast_id.in_(podcast_ids)]


def _goes_out_after(instant: datetime) -> ColumnElement[bool]:
    is_scheduled = and_(
        Episode.status == EpisodeStatus.SCHEDULED, Episode.scheduled_for > instant
    )
    is_out = and_(
        Episode.status == EpisodeStatus.PUBLISHED, Episode.published_at > instant
    )
    return is_scheduled | is_out


def _reach(rule: Rule) -> timedelta:
    """How far back a date may lie for the rule's time to be ahead; two days to spare.

    Its time of day may lie a day after that of the date, and a clock change comes on
    top.
    """
    if TRIGGERS[rule.trigger_type].direction < 0:
        return timedelta(0)
    return timedelta(**{rule.offset_unit.value: rule.offset_value}) + timedelta(days=2)


def known(
    session: Session,
    congregation_id: UUID,
    booking_ids: Collection[str],
    episode_ids: Collection[str],
) -> list[Subject]:
    """Return these bookings and episodes, with their dates as they are now."""
    found: list[Subject] = []
    for ids in chunks(sorted(booking_ids)):
        is_one = and_(Booking.congregation_id == congregation_id, Booking.id.in_(ids))
        found += _of_bookings(session, select(Booking).where(is_one))
    for ids in chunks(sorted(episode_ids)):
        is_one = and_(Episode.congregation_id == congregation_id, Episode.id.in_(ids))
        found += _of_episodes(session, select(Episode).where(is_one))
    return found


def is_ahead(subject: Subject, rule: Rule, now: datetime) -> bool:
    """Whether the rule's time for the subject is still to come."""
    reference = TRIGGERS[rule.trigger_type].reference
    date = subject.dates.get(reference) if reference else None
    if not isinstance(date, datetime):
        return False
    return due_at(rule, date, subject.timezone) > now


def _of_bookings(session: Session, statement: Select[Booking]) -> list[Subject]:
    bookings = session.scalars(statement.order_by(Booking.start_time, Booking.id)).all()
    return [
        subject for chunk in chunks(bookings) for subject in of_bookings(session, chunk)
    ]


def _of_episodes(session: Session, statement: Select[Episode]) -> list[Subject]:
    episodes = session.scalars(statement.order_by(Episode.id)).all()
    return [
        subject
        for chunk in chunks(episodes)
        for subject in of_episodes(session, chunk, _booked(session, chunk))
    ]


def _booked(session: Session, episodes: Sequence[Episode]) -> frozenset[str]:
    """Return the episodes that a confirmed booking records."""
    found = session.scalars(
        select(Booking.episode_id).where(
            Booking.congregation_id == episodes[0].congregation_id,
            Booking.episode_id.in_([episode.id for episode in episodes]),
            Booking.status == BookingStatus.CONFIRMED,
        )
    )
    return frozenset(episode_id for episode_id in found if episode_id)
