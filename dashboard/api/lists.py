"""Looking: executions, scheduled jobs, and what rules made of an event."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from dashboard.api.answer import Answer
from dashboard.api.blueprint import LOOKING, answers, api
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.errors import ApiError
from dashboard.api.models.looking import (
    DecisionAnswer,
    EventAnswer,
    ExecutionAnswer,
    ExecutionsAnswer,
    JobAnswer,
    JobsAnswer,
)
from dashboard.api.models.queries import EventPath, ExecutionsQuery, JobsQuery, Listed
from dashboard.paging import Key, Page, paginate
from tasks.errors import InvalidInput, NotFound
from tasks.models import (
    SENTENCES,
    Decision,
    Event,
    EventData,
    Execution,
    Reason,
    ScheduledJob,
)

Row = TypeVar("Row", Execution, ScheduledJob)


@api.get("/executions", tags=[LOOKING], responses=answers(ExecutionsAnswer))
@endpoint("records:read")
def executions(call: Call, query: ExecutionsQuery) -> Answer:
    """List executions, newest first."""
    statement = _narrowed(select(Execution), Execution, query)
    page = _page(call, statement, (Execution.id.desc(),), query)
    found = ExecutionsAnswer(
        executions=[_execution(row) for row in page.rows],
        next_cursor=page.next_cursor,
    )
    return Answer(found.model_dump(mode="json"))


@api.get("/scheduled-jobs", tags=[LOOKING], responses=answers(JobsAnswer))
@endpoint("records:read")
def scheduled_jobs(call: Call, query: JobsQuery) -> Answer:
    """List scheduled jobs, soonest first."""
    statement = _narrowed(select(ScheduledJob), ScheduledJob, query)
    page = _page(call, statement, (ScheduledJob.due_at, ScheduledJob.id), query)
    found = JobsAnswer(
        scheduled_jobs=[_job(row) for row in page.rows], next_cursor=page.next_cursor
    )
    return Answer(found.model_dump(mode="json"))


@api.get("/events/<path:id>", tags=[LOOKING], responses=answers(EventAnswer))
@endpoint("records:read")
def event(call: Call, path: EventPath) -> Answer:
    """Show an event and what every rule made of it.

    The id is the one that was answered, or the producer's own.
    """
    row = _event(call.session, path.id)
    data = call.session.scalar(
        select(EventData.data).where(EventData.event_id == row.id)
    )
    decisions = call.session.scalars(
        select(Decision).where(Decision.event_id == row.id).order_by(Decision.id)
    ).all()
    return Answer(_event_answer(row, data or {}, decisions).model_dump(mode="json"))


def _page(
    call: Call, statement: Select[Row], keys: tuple[Key, ...], query: Listed
) -> Page[Row]:
    try:
        return paginate(call.session, statement, keys, query.cursor, query.limit)
    except InvalidInput as error:
        raise ApiError(
            HTTPStatus.BAD_REQUEST, "cursor_invalid", error.message
        ) from error


def _narrowed(statement: Select[Row], table: type[Row], query: Listed) -> Select[Row]:
    for name in ("booking_id", "episode_id", "state"):
        wanted = getattr(query, name)
        if wanted is not None:
            statement = statement.where(getattr(table, name) == wanted)
    return statement


def _event(session: Session, wanted: str) -> Event:
    is_it = Event.external_id == wanted
    with suppress(ValueError):  # it need not be one of ours
        is_it = or_(is_it, Event.id == UUID(wanted))
    found = session.scalars(select(Event).where(is_it)).all()
    if not found:
        raise NotFound("unknown_event", "There is no such event.")
    # Should a producer's id look like one of ours, then ours wins.
    return min(found, key=lambda row: str(row.id) != wanted.lower())


def _event_answer(
    row: Event, data: dict[str, Any], decisions: Sequence[Decision]
) -> EventAnswer:
    return EventAnswer(
        id=row.id,
        trigger_type=row.type,
        producer_event_id=row.external_id,
        podcast_id=row.podcast_id,
        episode_id=row.episode_id,
        booking_id=row.booking_id,
        guest_id=row.guest_id,
        source=row.source,
        occurred_at=row.occurred_at,
        created_at=row.created_at,
        context=data,
        decisions=[_decision(decision) for decision in decisions],
    )


def _decision(row: Decision) -> DecisionAnswer:
    return DecisionAnswer(
        rule_id=row.rule_id,
        rule_version=row.rule_version,
        outcome=row.outcome,
        reason=row.reason,
        message=_sentence(row.reason),
        execution_id=row.execution_id,
        scheduled_job_id=row.scheduled_job_id,
    )


def _execution(row: Execution) -> ExecutionAnswer:
    values = {name: getattr(row, name, None) for name in ExecutionAnswer.model_fields}
    values["message"] = row.error or _sentence(row.reason)
    return ExecutionAnswer.model_validate(values)


def _job(row: ScheduledJob) -> JobAnswer:
    values = {name: getattr(row, name, None) for name in JobAnswer.model_fields}
    values["message"] = _sentence(row.reason)
    return JobAnswer.model_validate(values)


def _sentence(reason: str | None) -> str | None:
    return None if reason is None else SENTENCES.get(Reason(reason))
