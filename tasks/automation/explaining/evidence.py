"""Reading what ``explaining`` needs, for one record and many rules at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.conditions import unmet, with_event
from tasks.automation.context import build_contexts
from tasks.automation.entities import Record
from tasks.automation.explaining.looking import find_rows
from tasks.automation.explaining.parts import Facts
from tasks.automation.guard import why_not
from tasks.automation.planner import No, Subject, Wanted, plan
from tasks.automation.subjects import booked_among, of_bookings, of_episodes
from tasks.automation.triggers import TIME_TRIGGERS
from tasks.models.base import new_id
from tasks.models.booking import Booking
from tasks.models.episode import Episode
from tasks.models.event import Event
from tasks.models.execution import Execution
from tasks.models.lane import LaneSetting
from tasks.models.rule import Rule


def gather(
    session: Session,
    record: Record,
    rules: Sequence[Rule],
    *,
    now: datetime,
    kept_since: datetime | None = None,
) -> list[Facts]:
    """Return the facts of each rule about a record; the queries do not grow with them.

    Args:
        rules: rules of the record's congregation, at most 500.
        kept_since: events from before may have been removed.
    """
    found = find_rows(session, record, rules)
    subject = subject_of(session, record)
    tries = {rule.id: trial(rule, record, found.event(rule)) for rule in rules}
    stopped = why_not(session, list(tries.values()), now=now)
    conditions = _unmet(session, tries, rules, now)
    paused = frozenset(
        session.scalars(select(LaneSetting.lane).where(LaneSetting.is_paused.is_(True)))
    )
    return [
        Facts(
            rule=rule,
            record=record,
            event=found.event(rule),
            decision=found.decision(rule),
            job=found.jobs.get(rule.id),
            execution=found.execution(rule),
            plan=planned(rule, subject, now),
            guard=stopped.get(tries[rule.id].id),
            unmet=conditions.get(rule.id),
            paused=paused,
            kept_since=kept_since,
        )
        for rule in rules
    ]


def subject_of(session: Session, record: Record) -> Subject | None:
    """Return what a record asks time rules to plan; ``None``: a guest asks for none."""
    if isinstance(record, Booking):
        return of_bookings(session, [record])[0]
    if isinstance(record, Episode):
        return of_episodes(session, [record], booked_among(session, [record]))[0]
    return None


def planned(rule: Rule, subject: Subject | None, now: datetime) -> Wanted | No | None:
    """Return what would be planned if the rule were on, belonged here, had no job."""
    if subject is None or rule.trigger_type not in TIME_TRIGGERS:
        return None
    made = plan(subject, [_as_if(rule)], [], now=now)
    return made.wanted[0] if made.wanted else next(iter(made.noes), None)


def trial(rule: Rule, record: Record, event: Event | None = None) -> Execution:
    """Return an execution that is not stored: what the guard is asked about."""
    return Execution(
        id=new_id(),
        congregation_id=record.congregation_id,
        rule_id=rule.id,
        rule_version=rule.version,
        event_id=event.id if event else None,
        trigger_type=rule.trigger_type,
        action=rule.action,
        podcast_id=record.podcast_id,
        episode_id=record.id if isinstance(record, Episode) else record.episode_id,
        booking_id=record.id if isinstance(record, Booking) else None,
        guest_id=_guest_of(record),
    )


def _guest_of(record: Record) -> str | None:
    if isinstance(record, Booking):
        return record.guest_id
    return None if isinstance(record, Episode) else record.id


def _as_if(rule: Rule) -> Rule:
    columns = {each.key: getattr(rule, each.key) for each in Rule.__table__.columns}
    return Rule(**{**columns, "enabled": True, "podcast_ids": None})


def _unmet(
    session: Session,
    tries: Mapping[UUID, Execution],
    rules: Sequence[Rule],
    now: datetime,
) -> dict[UUID, str]:
    """Return what stands against the conditions of the rules that have some."""
    asking = [rule for rule in rules if rule.conditions]
    contexts = build_contexts(session, [tries[rule.id] for rule in asking])
    found: dict[UUID, str] = {}
    for rule in asking:
        context = with_event(contexts[tries[rule.id].id], rule.trigger_type, now)
        if (sentence := unmet(rule.conditions, context)) is not None:
            found[rule.id] = sentence
    return found
