"""What each list's export reads: the list's own rows, by the list's own filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session
from wtforms import Form

from dashboard.events import queries as event_queries
from dashboard.events.forms import EventFilterForm
from dashboard.executions import lines as execution_lines
from dashboard.executions.forms import ExecutionFilter
from dashboard.exports import columns
from dashboard.exports.keeping_sources import KEEPING_SOURCES
from dashboard.exports.office_sources import OFFICE_SOURCES
from dashboard.exports.plain_sources import PLAIN_SOURCES
from dashboard.exports.source import Args, Source
from dashboard.filtering import NO_CHOICES
from dashboard.rules.scope import places
from dashboard.scheduled import lines as job_lines
from dashboard.scheduled.forms import JobFilter
from dashboard.webhooks import deliveries
from dashboard.webhooks.delivery_views import DeliveryFilter
from tasks.errors import InvalidInput
from tasks.models import Delivery, Event, Execution, ScheduledJob
from tasks.operations.matching import narrow
from tasks.saying import say


def _executions(session: Session, now: datetime, args: Args) -> Source:
    form = ExecutionFilter.read(NO_CHOICES, args)
    return Source(
        form.search,
        narrow(execution_lines.lines(), Execution, form.matching(session, now)),
        execution_lines.Line,
        columns.EXECUTIONS,
        (Execution.id.desc(),),
        Execution.id,
    )


def _scheduled(session: Session, now: datetime, args: Args) -> Source:
    form = JobFilter.read(NO_CHOICES, args)
    return Source(
        form.search,
        narrow(job_lines.lines(), ScheduledJob, form.matching(session, now)),
        job_lines.Line,
        columns.SCHEDULED,
        (ScheduledJob.due_at.desc(), ScheduledJob.id.desc()),
        ScheduledJob.id,
    )


def _events(session: Session, now: datetime, args: Args) -> Source:
    form = EventFilterForm.of(args, places(session))
    _refuse_errors(form)
    return Source(
        form.search,
        event_queries.listed(session, form.wanted(now)),
        event_queries.EventRow,
        columns.EVENTS,
        (Event.created_at.desc(), Event.id.desc()),
        Event.id,
    )


def _deliveries(session: Session, now: datetime, args: Args) -> Source:
    form = DeliveryFilter.read(session, args)
    _refuse_errors(form)
    return Source(
        form.search,
        deliveries.listed(form.wanted(now)),
        deliveries.DeliveryRow,
        columns.DELIVERIES,
        (Delivery.id.desc(),),
        Delivery.id,
    )


def _refuse_errors(form: Form) -> None:
    """Refuse a filter that was half understood: more would be exported than meant."""
    for name in form.errors:
        raise InvalidInput(
            "bad_filter",
            say(
                "The filter in this address cannot be read: “%(name)s” is wrong.",
                name=name,
            ),
            field=name,
        )


#: The word for a list -> what is read of it, by a filter as addresses have it.
SOURCES: Final[Mapping[str, Callable[[Session, datetime, Args], Source]]] = {
    "executions": _executions,
    "scheduled": _scheduled,
    "events": _events,
    "deliveries": _deliveries,
    **PLAIN_SOURCES,
    **OFFICE_SOURCES,
    **KEEPING_SOURCES,
}
