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
from tasks.automation.explaining.parts import Facts, Present
from tasks.automation.guard import why_not
from tasks.automation.hushing import hushed
from tasks.automation.planner import No, Subject, Wanted, plan
from tasks.automation.recipients import recipient_of
from tasks.automation.steps import FIRST
from tasks.automation.subjects import booked_among, of_bookings, of_episodes
from tasks.automation.triggers import TIME_TRIGGERS
from tasks.models.base import new_id
from tasks.models.booking import Booking
from tasks.models.episode import Episode
from tasks.models.event import Event
from tasks.models.execution import Execution
from tasks.models.lane import LaneSetting
from tasks.models.reason import Reason
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
    tries = {rule.id: trial(rule, record, now, found.event(rule)) for rule in rules}
    present = look(session, rules, tries, now)
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
            present=present[rule.id],
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


def trial(
    rule: Rule, record: Record, now: datetime, event: Event | None = None
) -> Execution:
    """Return an execution that is not stored: what the last look is asked about."""
    return Execution(
        id=new_id(),
        congregation_id=record.congregation_id,
        rule_id=rule.id,
        rule_version=rule.version,
        event_id=event.id if event else None,
        trigger_type=rule.trigger_type,
        action=rule.action,
        step=FIRST,
        podcast_id=record.podcast_id,
        episode_id=record.id if isinstance(record, Episode) else record.episode_id,
        booking_id=record.id if isinstance(record, Booking) else None,
        guest_id=_guest_of(record),
        due_at=now,
        run_at=now,
    )


def look(
    session: Session,
    rules: Sequence[Rule],
    tries: Mapping[UUID, Execution],
    now: datetime,
) -> dict[UUID, Present]:
    """Return what the last look before an effect would find now, by rule.

    Args:
        tries: by rule; their recipients are filled in.
    """
    rows = list(tries.values())
    contexts = build_contexts(session, rows)
    for rule in rules:
        row = tries[rule.id]
        row.recipient = recipient_of(rule, contexts[row.id])
    stopped = why_not(session, rows, now=now)
    quiet = hushed(session, rows, {rule.id: rule for rule in rules}, now)
    found: dict[UUID, Present] = {}
    for rule in rules:
        row = tries[rule.id]
        hush = quiet.get(row.id)
        told = with_event(contexts[row.id], rule.trigger_type, now)
        found[rule.id] = Present(
            guard=stopped.get(row.id) or (hush if isinstance(hush, Reason) else None),
            unmet=unmet(rule.conditions, told) if rule.conditions else None,
            quiet_until=hush if isinstance(hush, datetime) else None,
            context=told,
        )
    return found


def _guest_of(record: Record) -> str | None:
    if isinstance(record, Booking):
        return record.guest_id
    return None if isinstance(record, Episode) else record.id


def _as_if(rule: Rule) -> Rule:
    columns = {each.key: getattr(rule, each.key) for each in Rule.__table__.columns}
    return Rule(**{**columns, "enabled": True, "podcast_ids": None})
