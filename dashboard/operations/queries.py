"""What the pages of operations read: few queries, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from flask import url_for
from markupsafe import Markup
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dashboard.causes import cause
from dashboard.filters import absolute, reason
from dashboard.operations.forms import OperationFilter
from dashboard.operations.shrinking import moved_on
from dashboard.operations.words import WORDS, Words
from dashboard.paging import Page, paginate
from tasks.automation.triggers import TRIGGERS
from tasks.lane import COUNT_CAP
from tasks.models import (
    Congregation,
    Delivery,
    DigestMail,
    Endpoint,
    Engagement,
    Execution,
    FailureGroup,
    Operation,
    OperationState,
    Rule,
    ScheduledJob,
)
from tasks.models.event import Event
from tasks.models.operation import OPEN, RESUMABLE
from tasks.operations.audit import Actor
from tasks.operations.kinds import KINDS
from tasks.operations.seeing import find, seen_by
from tasks.saying import mark, meant, say
from tasks.webhooks.switching import name_of

#: What a filter's parts are called.
_LABELS: Final = {
    "state": mark("State"),
    "rule_id": mark("Rule"),
    "podcast_id": mark("Podcast"),
    "booking_id": mark("Booking"),
    "event_id": mark("Event"),
    "type": mark("Type"),
    "text": mark("Text"),
    "query": mark("Search"),
    "since": meant("a time", "From"),
    "until": meant("a time", "Until"),
    "late_before": mark("Late since"),
    "reason": mark("Why it waits"),
    "action": mark("Action"),
    "within": mark("Shown"),
    "endpoint_id": mark("Endpoint"),
    "group_id": mark("Failed with"),
    "minutes": mark("Spread over minutes"),
    "then_enable": mark("Then switches on"),
    "then_resume": mark("Then resumes the lane"),
}


#: Whose rows an operation is about -> the page of one, and its argument.
_PAGES: Final[Mapping[type[Any], tuple[str, str]]] = {
    Execution: ("executions.detail", "execution_id"),
    ScheduledJob: ("scheduled.detail", "job_id"),
    Event: ("events.detail", "event_id"),
    Delivery: ("webhooks.delivery", "delivery_id"),
    DigestMail: ("notifications.mail", "mail_id"),
    Engagement: ("outreach.detail", "engagement_id"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """An operation, and the name of the congregation that it is about."""

    operation: Operation
    congregation: str | None  # None: of several, or not seen

    @property
    def words(self) -> Words:
        """How its kind speaks."""
        return WORDS[self.operation.kind]

    @property
    def is_open(self) -> bool:
        """Whether the lane works on it."""
        return self.operation.state in OPEN

    @property
    def is_resumable(self) -> bool:
        """Whether an operator may let it go on."""
        return self.operation.state in RESUMABLE

    @property
    def is_capped(self) -> bool:
        """Whether more rows may be meant than were counted."""
        return self.operation.n_total >= COUNT_CAP

    @property
    def moved_on(self) -> str:
        """How many rows did not match any more at their turn, and why; at the end."""
        row = self.operation
        if row.state is not OperationState.DONE or self.is_capped:
            return ""
        return moved_on(row.n_total - row.n_done, row.n_total, row.kind, row.matching)

    def row_url(self, id_: str) -> str:
        """Return the page of one of the rows that it is about."""
        endpoint, name = _PAGES[KINDS[self.operation.kind].model]
        return url_for(endpoint, **{name: id_})  # type: ignore[arg-type]  # url_for names its own parameters too


def listed(
    session: Session, actor: Actor, form: OperationFilter, now: datetime
) -> Select[Operation, str | None]:
    """Select what an operator sees and asks for, in the order of ``Line``."""
    return (
        select(Operation, Congregation.name)
        .outerjoin(Congregation, Congregation.id == Operation.congregation_id)
        .where(*form.conditions(now, [seen_by(session, actor)]))
    )


def page(
    session: Session,
    statement: Select[Operation, str | None],
    cursor: str | None,
    limit: int,
) -> Page[Line]:
    """Return a page of what ``listed`` selects, newest first."""
    found = paginate(session, statement, (Operation.id.desc(),), cursor, limit)
    rows = [Line(*row) for row in found.rows]
    return Page(rows, found.next_cursor, found.previous_cursor)


def detail(session: Session, operation_id: UUID, actor: Actor) -> Line:
    """Return one operation.

    Raises:
        NotFound: the operator sees no such operation.
    """
    operation = find(session, operation_id, actor)
    name = session.scalar(
        select(Congregation.name).where(Congregation.id == operation.congregation_id)
    )
    return Line(operation, name)


def asked_for(session: Session, line: Line) -> list[tuple[str, str]]:
    """Return the filter in words: what each part is called, and what it says."""
    return list(_meant(session, line))


def _links(line: Line, ids: Sequence[str]) -> Markup:
    """Return links to rows that were named one by one."""
    link = Markup('<a href="{}">{}</a>')  # its values are escaped
    return Markup(" ").join(link.format(line.row_url(id_), id_) for id_ in ids)


def _named(session: Session, name: str, id_: UUID) -> Markup | str:
    """Return a rule's or an endpoint's name, or what failures have in common."""
    if name in ("rule_id", "then_enable"):
        found = session.scalar(select(Rule.name).where(Rule.id == id_))
        return found or str(id_)
    if name == "endpoint_id":
        endpoint = session.scalar(select(Endpoint).where(Endpoint.id == id_))
        return name_of(endpoint) if endpoint else str(id_)
    wanted = select(FailureGroup.cause).where(FailureGroup.id == id_)
    if (kept := session.scalar(wanted)) is None:
        return str(id_)
    url = url_for("failures.detail", failure_id=id_)
    return Markup('<a href="{}">{}</a>').format(url, cause(kept))


def _meant(session: Session, line: Line) -> Iterator[tuple[str, str]]:
    for name, value in line.operation.matching.items():
        if name == "ids":
            yield say("Rows"), _links(line, value)
        elif name in ("rule_id", "group_id", "endpoint_id", "then_enable"):
            yield say(_LABELS[name]), _named(session, name, UUID(value))
        elif name == "congregation_id":
            continue  # the page names it anyway
        elif name in ("since", "until", "late_before"):
            yield say(_LABELS[name]), absolute(datetime.fromisoformat(value))
        elif name == "reason":
            yield say(_LABELS[name]), reason(value)
        elif name == "type" and value in TRIGGERS:
            yield say(_LABELS[name]), say(TRIGGERS[value].title)
        else:
            yield say(_LABELS.get(name, name)), value
