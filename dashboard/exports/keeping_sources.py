"""What exports of agents, their campaigns and lists, holds, retention read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.congregations.queries import congregation
from dashboard.exports import keeping_columns as columns
from dashboard.exports.source import Args, Source
from dashboard.holds import queries as hold_queries
from dashboard.holds.filters import HoldFilter
from dashboard.outreach import cap_queries, imports, queries
from dashboard.outreach.filters import AgentFilter, CampaignFilter, ImportFilter
from dashboard.retention import queries as retention_queries
from dashboard.retention.filters import LedgerFilter, RetentionFilter
from dashboard.rules import version_filter
from dashboard.rules.version_filter import VersionFilter
from tasks.models import (
    Agent,
    Congregation,
    ContactImport,
    DailyRun,
    Erasure,
    Hold,
    OutreachCampaign,
    RuleVersion,
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row with its congregation's name."""

    row: Any
    congregation: str


@dataclass(frozen=True, slots=True)
class _RetentionLine:
    row: Congregation
    run: DailyRun | None


def _agents(_session: Session, now: datetime, args: Args) -> Source:
    form = AgentFilter.read(args)
    return Source(
        form.search,
        queries.selected_agents(form.conditions(now)),
        _Line,
        columns.AGENTS,
        queries.AGENT_KEYS,
        Agent.id,
    )


def _outreach_campaigns(_session: Session, now: datetime, args: Args) -> Source:
    form = CampaignFilter.read(args)
    return Source(
        form.search,
        cap_queries.selected(form.conditions(now)),
        _Line,
        columns.OUTREACH_CAMPAIGNS,
        (OutreachCampaign.id.desc(),),
        OutreachCampaign.id,
    )


def _contact_imports(_session: Session, now: datetime, args: Args) -> Source:
    form = ImportFilter.read(args)
    return Source(
        form.search,
        imports.selected(form.conditions(now)),
        _Line,
        columns.CONTACT_IMPORTS,
        imports.KEYS,
        ContactImport.id,
    )


def _holds(session: Session, now: datetime, args: Args) -> Source:
    form = HoldFilter.read(args)
    return Source(
        form.search,
        hold_queries.ended(session, form.conditions(now), now),
        hold_queries.Line,
        columns.HOLDS,
        (Hold.id.desc(),),
        Hold.id,
    )


def _retention(_session: Session, now: datetime, args: Args) -> Source:
    form = RetentionFilter.read(args)
    return Source(
        form.search,
        retention_queries.with_runs(form.conditions(now)),
        _RetentionLine,
        columns.RETENTION,
        retention_queries.KEYS,
        Congregation.id,
    )


def _ledger(session: Session, now: datetime, args: Args) -> Source:
    form = LedgerFilter.read(args)
    of = congregation(session, form.slug.data).id
    wanted = retention_queries.of_ledger(of, form.conditions(now))
    return Source(
        form.search,
        wanted.add_columns(Erasure.id),
        lambda row, _: row,
        columns.LEDGER,
        retention_queries.LEDGER_KEYS,
        Erasure.id,
    )


def _versions(_session: Session, now: datetime, args: Args) -> Source:
    form = VersionFilter.read(args)
    return Source(
        form.search,
        select(RuleVersion, RuleVersion.rule_id).where(*form.wanted(now)),
        lambda row, _: row,
        columns.VERSIONS,
        version_filter.KEYS,
        RuleVersion.version,
    )


#: The word for a list -> what is read of it, by a filter as addresses have it.
KEEPING_SOURCES: Final[Mapping[str, Callable[[Session, datetime, Args], Source]]] = {
    "agents": _agents,
    "outreach-campaigns": _outreach_campaigns,
    "contact-imports": _contact_imports,
    "holds": _holds,
    "retention": _retention,
    "ledger": _ledger,
    "versions": _versions,
}
