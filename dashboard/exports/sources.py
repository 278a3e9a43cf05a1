"""What each list's export reads: the list's own rows, by the list's own filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select
from sqlalchemy.orm import Session
from wtforms import Form

from dashboard.events import queries as event_queries
from dashboard.events.forms import EventFilterForm
from dashboard.executions import lines as execution_lines
from dashboard.executions.forms import ExecutionFilter
from dashboard.exports import columns
from dashboard.exports.columns import Columns
from dashboard.exports.files import Row
from dashboard.filtering import NO_CHOICES
from dashboard.paging import Key
from dashboard.rules.scope import places
from dashboard.scheduled import lines as job_lines
from dashboard.scheduled.forms import JobFilter
from dashboard.search.reading import Search
from dashboard.webhooks import deliveries
from dashboard.webhooks.delivery_views import DeliveryFilter
from tasks.errors import InvalidInput
from tasks.models import Delivery, Event, Execution, ScheduledJob
from tasks.operations.matching import narrow

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """One filtered list."""

    search: Search
    statement: Select[*tuple[Any, ...]]  # its first column is the row itself
    kind: Callable[..., Any]  # makes of what the statement selects what columns take
    columns: Columns
    keys: tuple[Key, ...]  # newest first
    id: Any  # the column with the row's id

    def row(self, found: Any) -> Row:  # noqa: ANN401  # a row of the statement
        """Return what is written of one row."""
        line = self.kind(*found)
        return {name: value(line) for name, value in self.columns.items()}

    @property
    def ids(self) -> Select[UUID]:
        """The ids of the rows alone, to be counted."""
        ids: Select[UUID] = self.statement.with_only_columns(
            self.id, maintain_column_froms=True
        )
        return ids


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
            f"The filter in this address cannot be read: “{name}” is wrong.",
            field=name,
        )


#: The word for a list -> what is read of it, by a filter as addresses have it.
SOURCES: Final[Mapping[str, Callable[[Session, datetime, Args], Source]]] = {
    "executions": _executions,
    "scheduled": _scheduled,
    "events": _events,
    "deliveries": _deliveries,
}
