"""What the pages of executions read: pages by key, capped counts, no query per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from dashboard.deeds import deeds
from dashboard.executions.lines import Line, lines
from dashboard.executions.tries import Try, tries
from dashboard.paging import Page, named, paginate
from dashboard.suppressions.queries import REASONS
from dashboard.tallies import tally
from tasks.bulk import among
from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import (
    Attempt,
    AttemptOutcome,
    AuditEntry,
    Event,
    Execution,
    ExecutionContext,
    ExecutionMessage,
    ExecutionState,
    Replay,
    Suppression,
)
from tasks.models.base import born_from
from tasks.models.execution import SETTLED
from tasks.operations.allowing import stopped, why_not_allowed
from tasks.operations.bulk import count
from tasks.operations.matching import Matching, narrow, searched
from tasks.operations.undoing_cancel import can_undo
from tasks.outbound import layout
from tasks.saying import say

#: States that have an index of their own.
_INDEXED: Final = frozenset(ExecutionState) - {ExecutionState.SUCCEEDED}
#: Counting what is new stops here.
NEW_MAX: Final = 100
#: Executions that repeat one, as far as its page names them.
REPLAYS_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Detail:
    """One execution and all that is known of it."""

    line: Line
    event_type: str | None  # of the event that led to it
    context: dict[str, Any] | None
    message: dict[str, Any] | None  # None: it never came to composing one
    composed_at: datetime | None
    attempts: Sequence[Try]  # newest first
    deeds: Sequence[AuditEntry]  # newest first
    replays: Sequence[Replay]  # that it is, or that it led to; oldest first
    stopped: Suppression | None  # what keeps mails from its recipient

    @property
    def why_stopped(self) -> str:
        """Why the recipient gets no mails; only asked for where they get none."""
        return say(REASONS[self.stopped.reason]) if self.stopped else ""

    @property
    def why_not_allowed(self) -> str | None:
        """Why the recipient cannot be allowed mails from here; None: they can."""
        entry = self.stopped
        return why_not_allowed(self.line.execution, entry) if entry else None

    @property
    def is_editable(self) -> bool:
        """Whether its mail can be edited and sent once more."""
        row = self.line.execution
        is_mail = row.action == "email" and "to" in (self.message or {})
        return is_mail and row.state in SETTLED

    @property
    def is_undoable(self) -> bool:
        """Whether its cancelling can still be taken back."""
        replayed = any(
            each.original_id == self.line.execution.id for each in self.replays
        )
        return not replayed and can_undo(self.line.execution, utcnow())

    @property
    def may_have_left(self) -> bool:
        """Whether the last try's answer was lost, after it had begun to leave."""
        last = next(iter(self.attempts), None)
        return last is not None and last.outcome is AttemptOutcome.UNKNOWN


def page(
    session: Session, matching: Matching, cursor: str | None, limit: int
) -> Page[Line]:
    """Return a page: what waits by its time, soonest first; else newest first."""
    # The ids alone: for each new value PostgreSQL may plan anew, and planning all the
    # joins takes longer than reading the rows.
    ids, row = searched(Execution, matching) or (
        narrow(select(Execution.id), Execution, matching),
        Execution,
    )
    some = paginate(session, ids, _columns(row, matching), cursor, limit)
    of_it = by_ids(session, some.rows)
    return named(some, {line.execution.id: line for line in of_it})


def _columns(row: Any, matching: Matching) -> Sequence[Any]:  # noqa: ANN401  # the table, or a part of it
    is_waiting = matching.state == ExecutionState.PENDING
    return (row.run_at, row.id) if is_waiting else (row.id.desc(),)


def by_ids(session: Session, ids: Sequence[UUID]) -> list[Line]:
    """Return some executions as the list shows them."""
    if not ids:
        return []
    rows = session.execute(lines().where(among(session, Execution.id, ids)))
    return [Line(*row) for row in rows]


def counts(
    session: Session, matching: Matching, shown: Sequence[Line] = ()
) -> Mapping[ExecutionState, int]:
    """Return how many match in each state, some as lower bounds (``tallies``)."""
    states = [line.execution.state for line in shown]
    return tally(
        session, Execution, ExecutionState, matching, indexed=_INDEXED, shown=states
    )


def n_newer(session: Session, matching: Matching, than: datetime) -> int:
    """Return how many matching executions were made after an instant, to ``NEW_MAX``.

    ``than`` is when the newest one on the page was made.
    """
    newer = select(Execution.id).where(
        Execution.id >= born_from(than), Execution.created_at > than
    )
    return count(session, narrow(newer, Execution, matching), NEW_MAX)


def detail(session: Session, execution_id: UUID) -> Detail:
    """Return one execution with its history; five queries, six of a failed mail.

    Raises:
        NotFound: the session sees no such execution.
    """
    row = session.execute(
        lines()
        .add_columns(
            Event.type,
            ExecutionContext.context,
            ExecutionMessage.message,
            ExecutionMessage.composed_at,
        )
        .outerjoin(Event, Event.id == Execution.event_id)
        .outerjoin(ExecutionContext, ExecutionContext.execution_id == Execution.id)
        .outerjoin(ExecutionMessage, ExecutionMessage.execution_id == Execution.id)
        .where(Execution.id == execution_id)
    ).one_or_none()
    if row is None:
        raise NotFound("unknown_execution", say("There is no such execution."))
    *columns, event_type, context, message, composed_at = row
    line = Line(*columns)
    return Detail(
        line=line,
        event_type=event_type,
        context=context,
        message=message,
        composed_at=composed_at,
        attempts=tries(session, line.execution),
        deeds=deeds(session, "execution", line.execution),
        replays=_replays(session, execution_id),
        stopped=stopped(session, line.execution),
    )


def _replays(session: Session, execution_id: UUID) -> Sequence[Replay]:
    ids = (Replay.execution_id, Replay.original_id)
    return session.scalars(
        select(Replay)
        .where(or_(*(column == execution_id for column in ids)))
        .order_by(Replay.execution_id)
        .limit(REPLAYS_MAX)
    ).all()


def may_have_left(session: Session, execution_id: UUID) -> bool:
    """Return whether an execution's last try may have arrived, its answer lost."""
    last = select(Attempt.outcome).where(Attempt.execution_id == execution_id)
    newest = last.order_by(Attempt.number.desc()).limit(1)
    return session.scalar(newest) is AttemptOutcome.UNKNOWN


def must_exist(session: Session, execution_id: UUID) -> None:
    """Raise ``NotFound`` unless the session sees the execution."""
    if session.scalar(select(Execution.id).where(Execution.id == execution_id)) is None:
        raise NotFound("unknown_execution", say("There is no such execution."))


def html_of(session: Session, execution_id: UUID) -> str:
    """Return the HTML of the mail as it was last composed.

    Raises:
        NotFound: there is none.
    """
    message = session.scalar(
        select(ExecutionMessage.message).where(
            ExecutionMessage.execution_id == execution_id
        )
    )
    told = message or {}
    html = layout.html_of(told, layout.UNSUBSCRIBE if told.get("optional") else None)
    if not html:
        raise NotFound("no_html", say("This execution has no HTML message."))
    return html
