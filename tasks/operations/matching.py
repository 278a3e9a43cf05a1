"""What narrows a list of executions or scheduled jobs, for pages and for bulk verbs."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    and_,
    literal_column,
    select,
    true,
)
from sqlalchemy.orm import InstrumentedAttribute, aliased

from tasks.lookups import unindexed
from tasks.models import (
    Congregation,
    Execution,
    ExecutionState,
    FailedExecution,
    JobState,
    ScheduledJob,
)
from tasks.models.base import EntityOfCongregation, born_from
from tasks.search.anywhere import holds
from tasks.search.conditions import SEARCH_WINDOW
from tasks.search.window import Rows, comes_first
from tasks.search.work import work_conditions, work_terms

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Model = type[Execution] | type[ScheduledJob]
S = TypeVar("S", bound=Select[Any])
F = TypeVar("F", bound="DataclassInstance")
_STATES: Final = frozenset(ExecutionState) | frozenset(JobState)

_RUNNING: Final = aliased(Execution)
_IS_RUNNING: Final = _RUNNING.state == literal_column("'running'")
#: What a filter says that is no text.
_IDS: Final = frozenset(
    {"rule_id", "congregation_id", "event_id", "group_id", "endpoint_id"}
)
_INSTANTS: Final = frozenset({"since", "until", "late_before"})


@dataclass(frozen=True, slots=True)
class Matching:
    """Which rows are meant; what is None or empty narrows nothing."""

    state: str | None = None
    rule_id: UUID | None = None
    congregation_id: UUID | None = None
    podcast_id: str | None = None
    booking_id: str | None = None  # found by index, however old
    event_id: UUID | None = None  # executions only
    text: str = ""  # part of a recipient, an id, a guest's name or an episode's title
    query: str = ""  # ``field:value`` terms, see ``tasks.search``
    since: datetime | None = None  # executions: made; scheduled jobs: due
    until: datetime | None = None  # not included
    late_before: datetime | None = None  # waits, and should have begun before this
    reason: str | None = None  # why it waits, or ended
    action: str | None = None  # executions only
    group_id: UUID | None = None  # of failures with one cause; executions only

    def as_json(self) -> dict[str, str]:
        """Return what is set, for the audit log."""
        return as_json(self)


def as_json(matching: DataclassInstance) -> dict[str, str]:
    """Return what a filter says, as texts."""
    values = {each.name: getattr(matching, each.name) for each in fields(matching)}
    return {name: str(value) for name, value in values.items() if value}


def from_json(kind: type[F], values: Mapping[str, str]) -> F:
    """Return the filter that ``as_json`` was made of."""
    return kind(**{name: _typed(name, text) for name, text in values.items()})


def _typed(name: str, text: str) -> str | UUID | datetime:
    if name in _IDS:
        return UUID(text)
    return datetime.fromisoformat(text) if name in _INSTANTS else text


def narrow(statement: S, model: Model, matching: Matching) -> S:
    """Return ``statement``, which selects from ``model``, with only what matches."""
    if found := searched(model, matching):
        return statement.where(model.id.in_(found[0]))
    return statement.where(*_early(model, matching))


def searched(model: Model, matching: Matching) -> tuple[Select[UUID], Rows] | None:
    """Return what selects the ids of a window that match, and the window's rows.

    Sorted by columns of these rows, it is read no further than a page needs.  None: an
    index serves all that is asked, so nothing has to be looked for.
    """
    if not is_looked_for(model, matching):
        return None
    rows, late = fitting(model, matching)
    wanted: Select[UUID] = select(rows.id.label("id")).where(*late)
    some = newest(model, matching, SEARCH_WINDOW, ids_first=rows.has_names)
    return rows.of(wanted, some), rows


def is_looked_for(model: Model, matching: Matching) -> bool:
    """Return whether something is asked that no index serves."""
    return bool(matching.text or work_terms(model, matching.query)[1])


def fitting(model: Model, matching: Matching) -> tuple[Rows, list[ColumnElement[bool]]]:
    """Return rows that are found first, and what must hold of them besides."""
    rows = Rows(model)
    _, terms = work_terms(model, matching.query)
    late = work_conditions(model, terms, rows)
    if matching.text:
        late.append(holds(rows, matching.text, is_execution=model is Execution))
    return rows, late


def newest(
    model: Model, matching: Matching, n: int, *, ids_first: bool = False
) -> Select[Any]:
    """Return what selects the ``n`` newest rows of what an index finds.

    What else must hold is asked of them afterwards (``fitting``): so no planner begins
    with it, and reads the table to its end.

    Args:
        model: what is listed.
        matching: the filter.
        n: how many rows.
        ids_first: for executions whose names are looked up; PostgreSQL then does it by
            key, and does not read all names there are.  Of smaller tables it takes the
            rows as they come.
    """
    early, order = _early(model, matching), order_of(model, matching)
    # Written out, so that PostgreSQL keeps the plan.
    limit = literal_column(str(n), Integer)
    has_index = matching.congregation_id or matching.booking_id
    if model is Execution and (ids_first or has_index):
        ids: Select[Any] = select(model.id).where(*early).order_by(*order).limit(limit)
        early = [comes_first(model.id, ids, and_(true(), *early))]
    return select(model).where(*early).order_by(*order).limit(limit)


def _early(model: Model, matching: Matching) -> list[ColumnElement[bool]]:
    """Return what an index finds."""
    terms, _ = work_terms(model, matching.query)
    return _conditions(model, matching) + work_conditions(model, terms)


def is_state(model: Model | Rows, state: str) -> ColumnElement[bool]:
    """Return whether a row is in ``state``.

    A known state is written into the statement: neither database uses a partial index
    for a parameter.
    """
    if state in _STATES:
        return model.state == literal_column(f"'{state}'")
    return model.state == state


def of_same(
    table: type[EntityOfCongregation], model: Model, column: InstrumentedAttribute[Any]
) -> ColumnElement[bool]:
    """Return the join to the row that a producer's id names, if it is here."""
    return and_(table.congregation_id == model.congregation_id, table.id == column)


def order_of(model: Model, matching: Matching) -> Sequence[Any]:
    """Return the order of the window: newest first, what waits by its time.

    Where an index has the state's few rows, its order is taken.
    """
    if matching.state == ExecutionState.PENDING or matching.late_before:
        return model.run_at, model.id
    if model is ScheduledJob:
        return ScheduledJob.due_at.desc(), ScheduledJob.id.desc()
    if matching.state == ExecutionState.RUNNING:
        return Execution.lease_until, Execution.id
    return (Execution.id.desc(),)


def _conditions(model: Model, matching: Matching) -> list[ColumnElement[bool]]:
    found = [
        column == value
        for column, value in (
            (_rule_of(model, matching), matching.rule_id),
            (model.congregation_id, matching.congregation_id),
            (model.podcast_id, matching.podcast_id),
            (model.reason, matching.reason),
        )
        if value is not None
    ]
    if matching.state:
        found.append(is_state(model, matching.state))
    if matching.state == ExecutionState.RUNNING and matching.congregation_id:
        # They are few, and have an index; SQLite would read all of the congregation's.
        found.append(Execution.id.in_(select(_RUNNING.id).where(_IS_RUNNING)))
    if matching.booking_id:
        # The index begins with the congregation: naming all of them lets it be used.
        everywhere = model.congregation_id.in_(select(Congregation.id))
        found += [everywhere, model.booking_id == matching.booking_id]
    if matching.action:
        found.append(Execution.action == matching.action)
    if matching.event_id:
        found.append(Execution.event_id == matching.event_id)
    if matching.group_id:
        own = select(FailedExecution.execution_id)
        alike = own.where(FailedExecution.group_id == matching.group_id)
        found.append(Execution.id.in_(alike))
    if matching.late_before:
        late = model.run_at < matching.late_before
        found += [is_state(model, ExecutionState.PENDING), late]
    found += _within(model, matching)
    return found


def _rule_of(
    model: Model, matching: Matching
) -> ColumnElement[Any] | InstrumentedAttribute[Any]:
    """Return the rule's column; of executions that wait, so that their index is used.

    SQLite would go by the rule instead, and read all that it ever did.
    """
    is_waiting = matching.state == ExecutionState.PENDING or matching.late_before
    if model is Execution and is_waiting:
        return unindexed(Execution.rule_id)
    return model.rule_id


def _within(model: Model, matching: Matching) -> Iterator[ColumnElement[bool]]:
    """Yield the bounds of time; executions are found by their ids, born in order.

    Ids tell the millisecond, which is near enough, and are in every index.
    """
    for moment, is_inside in (
        (matching.since, operator.ge),
        (matching.until, operator.lt),
    ):
        if moment and model is Execution:
            yield is_inside(Execution.id, born_from(moment))
        elif moment:
            yield is_inside(ScheduledJob.due_at, moment)
