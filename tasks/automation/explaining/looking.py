"""The rows about a record: its newest events and jobs, and what rules made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import case, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from tasks.automation.entities import Record
from tasks.models.booking import Booking
from tasks.models.episode import Episode
from tasks.models.event import Decision, DecisionOutcome, Event
from tasks.models.execution import Execution
from tasks.models.rule import Rule
from tasks.models.scheduled_job import JobState, ScheduledJob


@dataclass(frozen=True, slots=True)
class Found:
    """What the rows tell, by rule or trigger."""

    events: Mapping[str, Event]
    decisions: Mapping[tuple[UUID, UUID], Decision]  # by event and rule
    jobs: Mapping[UUID, ScheduledJob]  # by rule
    executions: Mapping[UUID, Execution]

    def event(self, rule: Rule) -> Event | None:
        """Return the newest event that the rule waits for."""
        return self.events.get(rule.trigger_type)

    def decision(self, rule: Rule) -> Decision | None:
        """Return what the rule made of that event."""
        event = self.event(rule)
        return self.decisions.get((event.id, rule.id)) if event else None

    def execution(self, rule: Rule) -> Execution | None:
        """Return what came of the event, else of the job."""
        decision, job = self.decision(rule), self.jobs.get(rule.id)
        id_ = decision.execution_id if decision else job.execution_id if job else None
        return self.executions.get(id_) if id_ else None


def find_rows(session: Session, record: Record, rules: Sequence[Rule]) -> Found:
    """Read the rows; four queries."""
    ids = [rule.id for rule in rules]
    events = _events(session, record)
    decisions = _decisions(session, [event.id for event in events.values()], ids)
    jobs = _jobs(session, record, ids)
    wanted = {each.execution_id for each in decisions.values()}
    wanted |= {each.execution_id for each in jobs.values()}
    return Found(events, decisions, jobs, _executions(session, filter(None, wanted)))


def _events(session: Session, record: Record) -> dict[str, Event]:
    """Return the newest event of each type that names the record."""
    column = _column(record, Event)
    newest = (
        func.row_number()
        .over(
            partition_by=Event.type, order_by=(Event.created_at.desc(), Event.id.desc())
        )
        .label("place")
    )
    numbered = (
        select(Event.id, newest)
        .where(Event.congregation_id == record.congregation_id, column == record.id)
        .subquery()
    )
    rows = session.scalars(
        select(Event)
        .join(numbered, numbered.c.id == Event.id)
        .where(numbered.c.place == 1)
    )
    return {row.type: row for row in rows}


def _decisions(
    session: Session, events: Sequence[UUID], rules: Sequence[UUID]
) -> dict[tuple[UUID, UUID], Decision]:
    """Return the latest decision of each; a yes stands, whatever a replay found."""
    is_yes = case((Decision.outcome == DecisionOutcome.FIRED, 1), else_=0)
    rows = session.scalars(
        select(Decision)
        .where(Decision.event_id.in_(events), Decision.rule_id.in_(rules))
        .order_by(is_yes, Decision.created_at, Decision.id)
    )
    return {(row.event_id, row.rule_id): row for row in rows if row.event_id}


def _jobs(
    session: Session, record: Record, rules: Sequence[UUID]
) -> dict[UUID, ScheduledJob]:
    """Return each rule's newest job for the record, a pending one first."""
    if not isinstance(record, Booking | Episode):
        return {}
    waits = case((ScheduledJob.state == JobState.PENDING, 0), else_=1)
    order = (waits, ScheduledJob.created_at.desc(), ScheduledJob.id.desc())
    place = func.row_number().over(partition_by=ScheduledJob.rule_id, order_by=order)
    numbered = (
        select(ScheduledJob.id, place.label("place"))
        .where(
            ScheduledJob.congregation_id == record.congregation_id,
            _column(record, ScheduledJob) == record.id,
            ScheduledJob.rule_id.in_(rules),
        )
        .subquery()
    )
    job = aliased(ScheduledJob)
    rows = session.scalars(
        select(job).join(numbered, numbered.c.id == job.id).where(numbered.c.place == 1)
    )
    return {row.rule_id: row for row in rows}


def _column(
    record: Record, table: type[Event] | type[ScheduledJob]
) -> InstrumentedAttribute[str | None]:
    if isinstance(record, Booking):
        return table.booking_id
    return table.episode_id if isinstance(record, Episode) else table.guest_id


def _executions(session: Session, ids: Iterable[UUID]) -> dict[UUID, Execution]:
    rows = session.scalars(select(Execution).where(Execution.id.in_(list(ids))))
    return {row.id: row for row in rows}
