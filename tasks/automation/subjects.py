"""What is planned for: a producer's dates, or a record of ours with its dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.checks import checked_ids, checked_instant, checked_timezone
from tasks.automation.context import Case
from tasks.automation.keys import Ids
from tasks.automation.planner import Date, Subject
from tasks.automation.quiet import clocks_of
from tasks.automation.records import full_ids, load_records
from tasks.automation.references import refuse_unknown
from tasks.automation.results import UNSET
from tasks.automation.scope import congregation_of
from tasks.automation.triggers import TRIGGERS
from tasks.automation.zones import first_zone
from tasks.models.booking import Booking, BookingStatus
from tasks.models.episode import Episode, EpisodeStatus
from tasks.models.scheduled_job import ScheduledJob


@dataclass(frozen=True, slots=True)
class TimeContext:
    """The dates of one booking, episode or podcast.

    A date left ``UNSET`` is not talked about: its jobs stay.  ``None`` says that there
    is no such date: its pending jobs are cancelled.
    """

    podcast_id: str
    episode_id: str | None = None
    booking_id: str | None = None
    guest_id: str | None = None
    recording_date: Date = UNSET
    publish_date: Date = UNSET
    booking_date: Date = UNSET
    timezone: str | None = None  # None: the booking's, podcast's or congregation's
    congregation_id: UUID | None = None  # None: the only one of the session's scope


def subject_of(session: Session, context: TimeContext) -> Subject:
    """Return what a producer's call plans.

    Raises:
        InvalidInput: an id, a date or the timezone is wrong.
        NotFound: the congregation or a record is not known.
    """
    case = Case(
        congregation_of(session, context.congregation_id),
        **checked_ids(
            podcast_id=context.podcast_id,
            episode_id=context.episode_id,
            booking_id=context.booking_id,
            guest_id=context.guest_id,
        ),
    )
    records = load_records(session, [case])
    refuse_unknown(case, records)
    booking = records.bookings.get((case.congregation_id, case.booking_id or ""))
    booked = _checked(context.booking_date, "booking_date")
    if isinstance(booked, datetime) and booking and booking.confirmed_at:
        booked = booking.confirmed_at
    clocks = clocks_of(case, records)
    return Subject(
        congregation_id=case.congregation_id,
        ids=full_ids(case, records),
        dates={
            "recording": _checked(context.recording_date, "recording_date"),
            "publish": _checked(context.publish_date, "publish_date"),
            "booking": booked,
        },
        timezone=first_zone(checked_timezone(context.timezone), clocks.guest),
        host_timezone=clocks.host,
    )


def of_bookings(session: Session, bookings: Sequence[Booking]) -> list[Subject]:
    """Return what bookings ask for: only a confirmed one has dates."""
    cases = [
        Case(row.congregation_id, row.podcast_id, row.episode_id, row.id, row.guest_id)
        for row in bookings
    ]
    records = load_records(session, cases)
    return [
        Subject(
            case.congregation_id,
            full_ids(case, records),
            {
                "recording": row.start_time if _is_confirmed(row) else None,
                "booking": row.confirmed_at if _is_confirmed(row) else None,
            },
            *clocks_of(case, records),
        )
        for case, row in zip(cases, bookings, strict=True)
    ]


def of_episodes(
    session: Session, episodes: Sequence[Episode], booked: frozenset[str]
) -> list[Subject]:
    """Return what episodes ask for.

    Args:
        booked: episodes that a confirmed booking records; its own date counts then,
            or the same recording would be announced twice.
    """
    cases = [
        Case(row.congregation_id, row.podcast_id, episode_id=row.id) for row in episodes
    ]
    records = load_records(session, cases)
    return [
        Subject(
            case.congregation_id,
            full_ids(case, records),
            {
                "recording": None if row.id in booked else row.recording_at,
                "publish": _publish_date(row),
            },
            *clocks_of(case, records),
        )
        for case, row in zip(cases, episodes, strict=True)
    ]


def of_jobs(
    session: Session, jobs: Sequence[ScheduledJob], *, was: str | None = None
) -> list[Subject]:
    """Return what jobs were planned for, each with the date that it counts from.

    Dates and timezone stay as they were planned: a producer may have told others than
    the records have.

    Args:
        was: the timezone that the podcast or congregation had until now; what was
            planned with it gets the present one.
    """
    records = load_records(session, jobs)
    subjects = []
    for job in jobs:
        clocks = clocks_of(job, records)
        reference = TRIGGERS[job.trigger_type].reference
        subjects.append(
            Subject(
                job.congregation_id,
                Ids(job.podcast_id, job.episode_id, job.booking_id, job.guest_id),
                {reference: job.reference_at} if reference else {},
                clocks.guest if job.timezone == was else job.timezone,
                clocks.host,
            )
        )
    return subjects


def booked_among(session: Session, episodes: Sequence[Episode]) -> frozenset[str]:
    """Return which episodes of one congregation a confirmed booking records."""
    if not episodes:
        return frozenset()
    found = session.scalars(
        select(Booking.episode_id).where(
            Booking.congregation_id == episodes[0].congregation_id,
            Booking.episode_id.in_([row.id for row in episodes]),
            Booking.status == BookingStatus.CONFIRMED,
        )
    )
    return frozenset(episode_id for episode_id in found if episode_id)


def _publish_date(row: Episode) -> Date:
    """Return when an episode goes or went out.

    A draft that has a date is its producer's to plan.
    """
    if row.status is EpisodeStatus.PUBLISHED:
        return row.published_at
    is_draft = row.status is EpisodeStatus.DRAFT
    return UNSET if is_draft and row.scheduled_for else row.scheduled_for


def _is_confirmed(row: Booking) -> bool:
    return row.status is BookingStatus.CONFIRMED


def _checked(date: Date, field: str) -> Date:
    return checked_instant(date, field) if date else date
