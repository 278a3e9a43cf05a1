"""What the exports of lists of what is set up, and of the back office, read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.addresses import queries as address_queries
from dashboard.addresses.filters import AddressFilter, SyncFilter
from dashboard.board import queries as board_queries
from dashboard.board.filters import BoardFilter
from dashboard.board.views import looked_at
from dashboard.campaigns import queries as campaign_queries
from dashboard.campaigns.filters import CampaignFilter
from dashboard.congregations import queries as congregation_queries
from dashboard.congregations.filters import CongregationFilter
from dashboard.exports import office_columns as columns
from dashboard.exports.source import Args, Source
from dashboard.failures import queries as failure_queries
from dashboard.failures.filters import FailureFilter
from dashboard.groups import queries as group_queries
from dashboard.groups.filters import GroupFilter
from dashboard.notifications import recipients
from dashboard.notifications.filters import RecipientFilter
from dashboard.rules import queries as rule_queries
from dashboard.rules.filters import RuleFilterForm
from dashboard.territories import queries as territory_queries
from dashboard.territories.filters import TerritoryFilter
from dashboard.tokens import queries as token_queries
from dashboard.tokens.filters import TokenFilter
from dashboard.transfers import queries as transfer_queries
from dashboard.transfers.filters import TransferFilter
from dashboard.webhooks import queries as endpoint_queries
from dashboard.webhooks.filters import EndpointFilter
from tasks.models import (
    Account,
    Address,
    ApiToken,
    Campaign,
    Congregation,
    Document,
    Endpoint,
    FailureGroup,
    Group,
    Rule,
    Sync,
    Territory,
    Transfer,
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row with its congregation, or the congregation's name."""

    row: Any
    congregation: Any


@dataclass(frozen=True, slots=True)
class _RuleLine:
    rule: Rule
    congregation: str
    last_fired_at: datetime | None


@dataclass(frozen=True, slots=True)
class _FailureLine:
    group: FailureGroup
    rule: str | None
    endpoint: Endpoint | None
    congregation: str


@dataclass(frozen=True, slots=True)
class _EndpointLine:
    endpoint: Endpoint
    congregation: str
    slug: str


@dataclass(frozen=True, slots=True)
class _GroupLine:
    row: Group
    congregation: Congregation
    head: Any
    deputy: Any
    n_members: int


@dataclass(frozen=True, slots=True)
class _CardLine:
    document: Document
    section: Any
    file: Any
    congregation: Congregation


def _rules(_session: Session, now: datetime, args: Args) -> Source:
    form = RuleFilterForm.read(args)
    return Source(
        form.search,
        rule_queries.selected(form.wanted(now)),
        _RuleLine,
        columns.RULES,
        rule_queries.KEYS,
        Rule.id,
    )


def _failures(_session: Session, now: datetime, args: Args) -> Source:
    form = FailureFilter.read(args)
    return Source(
        form.search,
        failure_queries.selected(form.wanted(now)),
        _FailureLine,
        columns.FAILURES,
        failure_queries.KEYS,
        FailureGroup.id,
    )


def _endpoints(_session: Session, now: datetime, args: Args) -> Source:
    form = EndpointFilter.read(args)
    return Source(
        form.search,
        endpoint_queries.selected(form.conditions(now)),
        _EndpointLine,
        columns.ENDPOINTS,
        endpoint_queries.KEYS,
        Endpoint.id,
    )


def _territories(session: Session, now: datetime, args: Args) -> Source:
    form = TerritoryFilter.read(args)
    return Source(
        form.search,
        territory_queries.selected(form.wanted(session, now)),
        _Line,
        columns.TERRITORIES,
        territory_queries.KEYS,
        Territory.id,
    )


def _campaigns(_session: Session, now: datetime, args: Args) -> Source:
    form = CampaignFilter.read(args)
    return Source(
        form.search,
        campaign_queries.selected(form.conditions(now)),
        _Line,
        columns.CAMPAIGNS,
        campaign_queries.KEYS,
        Campaign.id,
    )


def _groups(_session: Session, now: datetime, args: Args) -> Source:
    form = GroupFilter.read(args)
    return Source(
        form.search,
        group_queries.selected(form.conditions(now)),
        _GroupLine,
        columns.GROUPS,
        group_queries.KEYS,
        Group.id,
    )


def _documents(_session: Session, now: datetime, args: Args) -> Source:
    form = BoardFilter.read(args)
    return Source(
        form.search,
        board_queries.selected(form.wanted(looked_at(), now)),
        _CardLine,
        columns.DOCUMENTS,
        board_queries.KEYS,
        Document.id,
    )


def _addresses(_session: Session, now: datetime, args: Args) -> Source:
    form = AddressFilter.read(args)
    return Source(
        form.search,
        address_queries.selected(form.wanted(now)),
        _Line,
        columns.ADDRESSES,
        address_queries.KEYS,
        Address.id,
    )


def _syncs(_session: Session, now: datetime, args: Args) -> Source:
    form = SyncFilter.read(args)
    return Source(
        form.search,
        address_queries.selected_syncs(form.conditions(now)),
        _Line,
        columns.SYNCS,
        (Sync.id.desc(),),
        Sync.id,
    )


def _transfers(_session: Session, now: datetime, args: Args) -> Source:
    form = TransferFilter.read(args)
    return Source(
        form.search,
        transfer_queries.selected(form.conditions(now)),
        _Line,
        columns.TRANSFERS,
        (Transfer.id.desc(),),
        Transfer.id,
    )


def _recipients(_session: Session, now: datetime, args: Args) -> Source:
    form = RecipientFilter.read(args)
    return Source(
        form.search,
        recipients.selected(form.conditions(now)),
        _Line,
        columns.RECIPIENTS,
        recipients.KEYS,
        Account.id,
    )


def _congregations(_session: Session, now: datetime, args: Args) -> Source:
    form = CongregationFilter.read(args)
    return Source(
        form.search,
        select(Congregation, Congregation.id).where(*form.conditions(now)),
        lambda row, _: row,
        columns.CONGREGATIONS,
        congregation_queries.KEYS,
        Congregation.id,
    )


def _tokens(_session: Session, now: datetime, args: Args) -> Source:
    form = TokenFilter.read(args)
    return Source(
        form.search,
        token_queries.selected(form.conditions(now)),
        partial(token_queries.listed_at, now),
        columns.TOKENS,
        token_queries.KEYS,
        ApiToken.id,
    )


#: The word for a list -> what is read of it, by a filter as addresses have it.
OFFICE_SOURCES: Final[Mapping[str, Callable[[Session, datetime, Args], Source]]] = {
    "rules": _rules,
    "failures": _failures,
    "endpoints": _endpoints,
    "territories": _territories,
    "campaigns": _campaigns,
    "groups": _groups,
    "documents": _documents,
    "addresses": _addresses,
    "syncs": _syncs,
    "transfers": _transfers,
    "recipients": _recipients,
    "congregations": _congregations,
    "tokens": _tokens,
}
