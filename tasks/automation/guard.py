"""The last look before something goes out: what must not go ahead, and why.

The lanes ask right before they act, in the transaction of the claim, so that nothing
is sent after its cancellation is saved, whoever cancelled it and however.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from tasks.automation.candidates import Candidate, step_number
from tasks.automation.records import Key, by_key, chunks, is_one_of, pairs_of
from tasks.automation.steps import step_of
from tasks.automation.suppressed import suppressed
from tasks.automation.triggers import TRIGGERS
from tasks.automation.waiting import Dates, dates_of, waited_too_long
from tasks.bulk import given, is_among, is_postgres
from tasks.models.booking import Booking, BookingStatus
from tasks.models.episode import Episode, EpisodeStatus
from tasks.models.reason import Reason
from tasks.models.rule import Rule

#: Rows go to whom they say they do.
_AS_NOTED: Final[Mapping[UUID, str | None]] = MappingProxyType({})

#: Events that say a booking takes place: pointless once it does not.
EVENTS_OF_LIVING_BOOKINGS: Final = frozenset(
    {"booking.confirmed", "booking.rescheduled"}
)


#: A rule's id as a number, which hashes faster; a step and a podcast of it.
_OfRule = tuple[int, int, str | None]
#: A congregation's id as a number, and a booking of it.
_OfBooking = tuple[int, str]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the rows depend on, as it is now."""

    rules: Mapping[UUID, Rule]
    bookings: Mapping[_OfBooking, BookingStatus]
    episodes: Mapping[Key, Episode]
    dates: Mapping[UUID, Dates]  # of executions that a job led to
    suppressed: frozenset[UUID]  # mails whose recipient does not want them
    #: What was said of rows of the same rule, step and podcast.
    told: dict[_OfRule, Reason | None] = field(default_factory=dict)


def why_not(
    session: Session,
    rows: Sequence[Candidate],
    *,
    now: datetime,
    recipients: Mapping[UUID, str | None] = _AS_NOTED,
    rules: Mapping[UUID, Rule] | None = None,
) -> dict[UUID, Reason]:
    """Return which executions or pending jobs must not go ahead, and why.

    A row that is not in the answer may go.  Five queries for up to 500 rows.  How
    late a job is, is the lane's to judge (``lateness.is_too_late``).

    Args:
        recipients: Whom executions go to now, where the rows may not know it yet.
        rules: The rows' rules, if they were read just now.
    """
    facts = _facts(session, rows, recipients, rules or rules_of(session, rows))
    return {row.id: reason for row in rows if (reason := _reason(row, facts, now))}


@lru_cache
def needs_living_booking(trigger_type: str) -> bool:
    """Return whether what the trigger leads to is pointless for a cancelled booking."""
    if trigger_type in EVENTS_OF_LIVING_BOOKINGS:
        return True
    trigger = TRIGGERS.get(trigger_type)
    return trigger is not None and trigger.reference in {"recording", "booking"}


def _facts(
    session: Session,
    rows: Sequence[Candidate],
    recipients: Mapping[UUID, str | None],
    rules: Mapping[UUID, Rule],
) -> _Facts:
    bookings = {
        (row.congregation_id.int, row.booking_id): row.congregation_id
        for row in rows
        if row.booking_id and needs_living_booking(row.trigger_type)
    }
    episodes = {
        (row.congregation_id, row.episode_id)
        for row in rows
        if row.episode_id and _needs_episode(row.trigger_type)
    }

    def settings_of(row: Candidate) -> Mapping[str, Any] | None:
        rule = rules.get(row.rule_id)
        step = step_of(rule, step_number(row)) if rule else None
        return step.settings if step else None

    return _Facts(
        rules=rules,
        bookings=_bookings(session, bookings),
        episodes=by_key(session, Episode, episodes),
        dates=dates_of(session, rows),
        suppressed=frozenset(suppressed(session, rows, recipients, settings_of)),
    )


def rules_of(session: Session, rows: Sequence[Candidate]) -> dict[UUID, Rule]:
    """Return the rows' rules as they are now, by id; deleted ones as well."""
    found: dict[UUID, Rule] = {}
    for chunk in chunks(sorted({row.rule_id for row in rows})):
        statement = _rules_by_id(is_postgres(session))
        rules = session.scalars(statement, {"ids": given(session, Rule.id, chunk)})
        found.update({rule.id: rule for rule in rules})
    return found


@lru_cache
def _rules_by_id(takes_arrays: bool) -> Select[Rule]:  # a key of the cache
    return (
        select(Rule)
        .where(is_among(Rule.id, "ids", takes_arrays=takes_arrays))
        .execution_options(populate_existing=True)
    )


def _bookings(
    session: Session, wanted: Mapping[_OfBooking, UUID]
) -> dict[_OfBooking, BookingStatus]:
    found: dict[_OfBooking, BookingStatus] = {}
    for chunk in chunks([(of, id_) for (_, id_), of in wanted.items()]):
        rows = session.execute(
            _booking_states(is_postgres(session)), pairs_of(session, chunk)
        )
        found.update({(of.int, id_): status for of, id_, status in rows})
    return found


@lru_cache
def _booking_states(
    takes_arrays: bool,  # a key of the cache
) -> Select[UUID, str, BookingStatus]:
    return select(Booking.congregation_id, Booking.id, Booking.status).where(
        is_one_of(Booking, takes_arrays=takes_arrays)
    )


@lru_cache
def _needs_episode(trigger_type: str) -> bool:
    trigger = TRIGGERS.get(trigger_type)
    return trigger is not None and trigger.subject == "episode"


def _reason(row: Candidate, facts: _Facts, now: datetime) -> Reason | None:
    return (
        _reason_of_rule(row, facts)
        or _reason_of_booking(row, facts)
        or _reason_of_episode(row, facts)
        or _reason_of_recipient(row, facts)
        or _reason_of_time(row, facts, now)
    )


def _reason_of_recipient(row: Candidate, facts: _Facts) -> Reason | None:
    if not facts.suppressed:
        return None
    return Reason.SUPPRESSED if row.id in facts.suppressed else None


def _reason_of_rule(row: Candidate, facts: _Facts) -> Reason | None:
    step = step_number(row)
    key = (row.rule_id.int, step, row.podcast_id)
    if key not in facts.told:
        rule = facts.rules.get(row.rule_id)
        facts.told[key] = _reason_of_step(rule, step, row.podcast_id)
    return facts.told[key]


def _reason_of_step(
    rule: Rule | None, step: int, podcast_id: str | None
) -> Reason | None:
    if rule is None or rule.deleted_at is not None:
        return Reason.RULE_DELETED
    if not rule.enabled:
        return Reason.RULE_DISABLED
    if step and not step_of(rule, step):
        return Reason.STEP_REMOVED
    if not rule.covers(podcast_id):
        return Reason.OUT_OF_SCOPE
    return None


def _reason_of_booking(row: Candidate, facts: _Facts) -> Reason | None:
    if not row.booking_id or not needs_living_booking(row.trigger_type):
        return None
    status = facts.bookings.get((row.congregation_id.int, row.booking_id))
    if status is None:
        return Reason.BOOKING_GONE
    if status is BookingStatus.CANCELLED:
        return Reason.BOOKING_CANCELLED
    if status is BookingStatus.DECLINED:
        return Reason.NOT_CONFIRMED
    # An event says itself what happened; a date counts for confirmed bookings only.
    is_requested = status is BookingStatus.REQUESTED
    is_event = row.trigger_type in EVENTS_OF_LIVING_BOOKINGS
    return Reason.NOT_CONFIRMED if is_requested and not is_event else None


def _reason_of_episode(row: Candidate, facts: _Facts) -> Reason | None:
    if not row.episode_id or not _needs_episode(row.trigger_type):
        return None
    episode = facts.episodes.get((row.congregation_id, row.episode_id))
    if episode is None:
        return Reason.BOOKING_GONE
    is_publish = TRIGGERS[row.trigger_type].reference == "publish"
    is_draft = episode.status is EpisodeStatus.DRAFT
    if is_publish and is_draft and episode.scheduled_for is None:
        return Reason.NOT_PUBLISHED
    return None


def _reason_of_time(row: Candidate, facts: _Facts, now: datetime) -> Reason | None:
    if not facts.dates:
        return None
    dates, rule = facts.dates.get(row.id), facts.rules.get(row.rule_id)
    if dates is None or not waited_too_long(row.trigger_type, rule, dates, now):
        return None
    return Reason.TOO_LATE
