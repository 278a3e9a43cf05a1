"""What the exports of lists read that a search alone narrows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.audit import queries as audit_queries
from dashboard.audit.forms import AuditFilter
from dashboard.exports import plain_columns as columns
from dashboard.exports.source import Args, Source
from dashboard.lanes.queries import RUN_KEYS
from dashboard.lanes.run_views import RunFilter
from dashboard.members import queries as member_queries
from dashboard.members.filters import MemberFilter
from dashboard.notifications import queries as mail_queries
from dashboard.notifications.filters import MailFilter
from dashboard.operations import queries as operation_queries
from dashboard.operations.forms import OperationFilter
from dashboard.outreach import queries as outreach_queries
from dashboard.outreach.filters import ContactFilter, EngagementFilter
from dashboard.security import actor
from dashboard.suppressions import queries as suppression_queries
from dashboard.suppressions.forms import SuppressionFilter
from tasks.models import (
    AuditEntry,
    Congregation,
    Contact,
    DigestMail,
    Engagement,
    LaneRun,
    Member,
    Operation,
    Suppression,
)
from tasks.outreach.finding import Wanted


@dataclass(frozen=True, slots=True)
class _MemberLine:
    member: Member
    congregation: Congregation
    group: str | None


@dataclass(frozen=True, slots=True)
class _ContactLine:
    contact: Contact
    congregation: str


def _operations(session: Session, now: datetime, args: Args) -> Source:
    form = OperationFilter.read(args)
    return Source(
        form.search,
        operation_queries.listed(session, actor(), form, now),
        operation_queries.Line,
        columns.OPERATIONS,
        (Operation.id.desc(),),
        Operation.id,
    )


def _audit(_session: Session, now: datetime, args: Args) -> Source:
    form = AuditFilter.read(args)
    return Source(
        form.search,
        audit_queries.listed(form.wanted(now)).add_columns(AuditEntry.id),
        lambda entry, _: entry,
        columns.AUDIT,
        audit_queries.KEYS,
        AuditEntry.id,
    )


def _members(_session: Session, now: datetime, args: Args) -> Source:
    form = MemberFilter.read(args)
    return Source(
        form.search,
        member_queries.selected(form.wanted(now)),
        _MemberLine,
        columns.MEMBERS,
        member_queries.KEYS,
        Member.id,
    )


def _engagements(_session: Session, now: datetime, args: Args) -> Source:
    form = EngagementFilter.read(args)
    return Source(
        form.search,
        outreach_queries.selected(Wanted()).where(*form.wanted(now)),
        outreach_queries.Listed,
        columns.ENGAGEMENTS,
        (Engagement.id.desc(),),
        Engagement.id,
    )


def _contacts(_session: Session, now: datetime, args: Args) -> Source:
    form = ContactFilter.read(args)
    return Source(
        form.search,
        outreach_queries.selected_contacts(form.conditions(now)),
        _ContactLine,
        columns.CONTACTS,
        (Contact.id.desc(),),
        Contact.id,
    )


def _mails(_session: Session, now: datetime, args: Args) -> Source:
    form = MailFilter.read(args)
    return Source(
        form.search,
        mail_queries.selected(form.wanted(now)),
        mail_queries.MailRow,
        columns.MAILS,
        (DigestMail.id.desc(),),
        DigestMail.id,
    )


def _suppressions(_session: Session, now: datetime, args: Args) -> Source:
    form = SuppressionFilter.read(args)
    return Source(
        form.search,
        suppression_queries.selected(form.conditions(now)),
        suppression_queries.Listed,
        columns.SUPPRESSIONS,
        suppression_queries.KEYS,
        Suppression.id,
    )


def _runs(_session: Session, now: datetime, args: Args) -> Source:
    form = RunFilter.read(args)
    return Source(
        form.search,
        select(LaneRun, LaneRun.id).where(*form.conditions(now)),
        lambda run, _: run,
        columns.RUNS,
        RUN_KEYS,
        LaneRun.id,
    )


#: The word for a list -> what is read of it, by a filter as addresses have it.
PLAIN_SOURCES: Final[Mapping[str, Callable[[Session, datetime, Args], Source]]] = {
    "operations": _operations,
    "audit": _audit,
    "members": _members,
    "engagements": _engagements,
    "contacts": _contacts,
    "mails": _mails,
    "suppressions": _suppressions,
    "runs": _runs,
}
