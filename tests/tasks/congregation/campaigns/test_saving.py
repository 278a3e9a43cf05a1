"""Campaigns as operators make, change, end and delete them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns import foretelling
from tasks.congregation.campaigns.drafts import CampaignDraft, checked
from tasks.congregation.campaigns.saving import (
    create_campaign,
    delete_campaign,
    edit_campaign,
    end_campaign,
)
from tasks.congregation.campaigns.scope import scope_of
from tasks.congregation.campaigns.transitions import move
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    Attribution,
    AuditEntry,
    Campaign,
    CampaignState,
    EndAction,
    StartAction,
    new_id,
)
from tasks.operations.audit import Actor
from tests.support import factories, territory_rows
from tests.support.factories import NOW
from tests.support.territory_rows import TODAY

Begin = Callable[[], AbstractContextManager[Session]]
DAY = timedelta(days=1)
INES = Actor("ines@example.org")
SPRING = CampaignDraft("Spring", TODAY, TODAY + 9 * DAY)


@pytest.fixture
def tenant(begin: Begin) -> UUID:
    with begin() as session:
        return factories.congregation(session, timezone="Europe/Paris")


@pytest.fixture
def grounds(begin: Begin, tenant: UUID) -> list[UUID]:
    """Three territories; somebody works on each."""
    with begin() as session:
        ids = [territory_rows.territory(session, tenant, n) for n in "123"]
        who = territory_rows.member(session, tenant)
        for each in ids:
            territory_rows.attribution(session, tenant, who, each)
        return ids


def _create(begin: Begin, tenant: UUID, draft: CampaignDraft = SPRING) -> UUID:
    with begin() as session:
        return create_campaign(session, tenant, draft, INES, NOW).id


def _edit(begin: Begin, id_: UUID, draft: CampaignDraft, **values: Any) -> None:
    with begin() as session:
        edit_campaign(session, id_, draft, INES, values.pop("now", NOW), **values)


def _refused(begin: Begin, act: Callable[[Session], object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as refused, begin() as session:
        act(session)
    return refused.value


def _paused(begin: Begin) -> set[UUID]:
    with begin() as session:
        paused = Attribution.paused_on.is_not(None)
        return set(session.scalars(select(Attribution.territory_id).where(paused)))


def _state(begin: Begin, id_: UUID) -> CampaignState:
    with begin() as session:
        return session.get_one(Campaign, id_).state


def test_one_whose_day_has_come_starts_when_it_is_saved(
    begin: Begin, tenant: UUID, grounds: list[UUID]
) -> None:
    id_ = _create(begin, tenant)
    assert _state(begin, id_) is CampaignState.ACTIVE
    assert _paused(begin) == {*grounds}
    with begin() as session:
        entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
        told = [(entry.action, entry.actor) for entry in entries]
    assert told == [
        ("campaign.created", INES.name),
        ("campaign.activated", "system"),
    ]
    later = replace(SPRING, starts_on=TODAY + 20 * DAY, ends_on=TODAY + 20 * DAY)
    assert _state(begin, _create(begin, tenant, later)) is CampaignState.SCHEDULED


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"name": "  "}, "missing", "name"),
        ({"name": "x" * 121}, "too_long", "name"),
        ({"starts_on": None}, "missing", "starts_on"),
        ({"ends_on": TODAY - DAY}, "ends_before_start", "ends_on"),
        ({"ends_on": TODAY + 366 * DAY}, "too_long", "ends_on"),
        ({"rest_days": -1}, "rest_out_of_range", "rest_days"),
        ({"start_action": "stop"}, "unknown_word", "start_action"),
        ({"end_action": "stop"}, "unknown_word", "end_action"),
        (
            {"start_action": StartAction.CLOSE, "reassigns": True},
            "reassign_needs_pause",
            "reassigns",
        ),
        (
            {"territory_ids": frozenset({new_id()})},
            "unknown_territory",
            "territory_ids",
        ),
        (
            {"starts_on": TODAY - 9 * DAY, "ends_on": TODAY - DAY},
            "campaign_past",
            "ends_on",
        ),
        ({"notes": "a\0b"}, "unprintable", "notes"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(
    sqlite_begin: Begin, changes: dict[str, Any], code: str, field: str
) -> None:
    with sqlite_begin() as session:
        tenant = factories.congregation(session)
    draft = replace(SPRING, **changes)
    refused = _refused(
        sqlite_begin, lambda s: create_campaign(s, tenant, draft, INES, NOW)
    )
    assert (refused.code, refused.field) == (code, field)


def test_two_campaigns_cannot_share_a_day(begin: Begin, tenant: UUID) -> None:
    _create(begin, tenant)
    day = TODAY + 9 * DAY
    other = replace(SPRING, name="May", starts_on=day, ends_on=day + 9 * DAY)
    refused = _refused(begin, lambda s: create_campaign(s, tenant, other, INES, NOW))
    assert isinstance(refused, Conflict)
    assert "“Spring” has the days from 2026-03-10 to 2026-03-19" in refused.message
    next_day = replace(other, starts_on=day + DAY)
    second = _create(begin, tenant, next_day)
    assert _refused(
        begin, lambda s: edit_campaign(s, second, other, INES, NOW)
    ).code == ("campaign_overlap")
    _edit(begin, second, replace(next_day, name="June"))


def test_of_two_saved_at_once_for_the_same_days_one_is_refused(
    begin: Begin, tenant: UUID
) -> None:
    def save(name: str) -> str:
        try:
            _create(begin, tenant, replace(SPRING, name=name))
        except Conflict as refused:
            return refused.code
        return "made"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(save, "ab")) == ["campaign_overlap", "made"]


def test_the_scope_of_an_active_one_may_grow_shrink_and_become_everything(
    begin: Begin, tenant: UUID, grounds: list[UUID]
) -> None:
    one = replace(SPRING, territory_ids=frozenset(grounds[:1]))
    id_ = _create(begin, tenant, one)
    assert _paused(begin) == {grounds[0]}
    _edit(begin, id_, replace(SPRING, territory_ids=frozenset(grounds[1:])))
    assert _paused(begin) == {*grounds[1:]}
    _edit(begin, id_, SPRING)
    assert _paused(begin) == {*grounds}
    closing = replace(one, end_action=EndAction.CLOSE)
    _edit(begin, id_, closing)
    with begin() as session:
        row = session.get_one(Campaign, id_)
        assert scope_of(session, row) == {grounds[0]}
        assert row.report["start"]["paused"] == 1 + 2 + 1
        assert row.report["end"] == {"work_closed": 0, "resumed": 1, "closed": 2}
        ended = Attribution.ended_on == TODAY
        closed = set(session.scalars(select(Attribution.territory_id).where(ended)))
    assert closed == {*grounds[1:]}


def test_what_an_active_one_forbids(
    begin: Begin, tenant: UUID, grounds: list[UUID]
) -> None:
    id_ = _create(begin, tenant)

    def code(draft: CampaignDraft) -> str:
        return _refused(begin, lambda s: edit_campaign(s, id_, draft, INES, NOW)).code

    assert code(replace(SPRING, starts_on=TODAY + DAY)) == "campaign_started"
    assert code(replace(SPRING, start_action=StartAction.LEAVE)) == "start_locked"
    assert code(replace(SPRING, reassigns=True)) == "start_locked"
    assert _refused(begin, lambda s: delete_campaign(s, id_, INES, NOW)).code == (
        "campaign_active"
    )
    stale = _refused(
        begin, lambda s: edit_campaign(s, id_, SPRING, INES, NOW, version=99)
    )
    assert stale.code == "changed_meanwhile"
    _edit(begin, id_, replace(SPRING, ends_on=TODAY + 2 * DAY))
    # Shortened to yesterday it is over, and ends in the same transaction.
    shorter = replace(SPRING, ends_on=TODAY + DAY)
    _edit(begin, id_, shorter, now=NOW + 3 * DAY)
    assert _state(begin, id_) is CampaignState.ENDED
    assert _paused(begin) == set()
    assert code(replace(shorter, end_action=EndAction.CLOSE)) == "campaign_ended"
    scoped = replace(shorter, territory_ids=frozenset(grounds[:1]))
    assert code(scoped) == "campaign_ended"
    _edit(begin, id_, replace(shorter, name="Lent", rest_days=3))
    assert _refused(begin, lambda s: delete_campaign(s, id_, INES, NOW)).code == (
        "campaign_ended"
    )


def test_an_active_one_can_be_ended_before_its_time(
    begin: Begin, tenant: UUID, grounds: list[UUID]
) -> None:
    id_ = _create(begin, tenant)
    with begin() as session:
        end_campaign(session, id_, INES, NOW + 2 * DAY)
    with begin() as session:
        row = session.get_one(Campaign, id_)
        assert (row.state, row.ends_on) == (CampaignState.ENDED, TODAY + 2 * DAY)
        due = session.scalars(select(Attribution.due_on)).first()
    assert due == TODAY + 32 * DAY
    assert _refused(begin, lambda s: end_campaign(s, id_, INES, NOW)).code == (
        "not_active"
    )


def test_a_missed_one_gets_another_chance_and_one_to_come_can_be_deleted(
    begin: Begin, tenant: UUID
) -> None:
    later = replace(SPRING, starts_on=TODAY + DAY, ends_on=TODAY + 2 * DAY)
    id_ = _create(begin, tenant, later)
    with begin() as session:
        assert move(session, tenant, NOW + 9 * DAY).missed == (id_,)
    again = replace(later, ends_on=TODAY + 30 * DAY, starts_on=TODAY + 20 * DAY)
    _edit(begin, id_, again, now=NOW + 9 * DAY)
    assert _state(begin, id_) is CampaignState.SCHEDULED
    with begin() as session:
        delete_campaign(session, id_, INES, NOW)
    refused = _refused(begin, lambda s: delete_campaign(s, id_, INES, NOW))
    assert isinstance(refused, NotFound)


def test_what_is_foretold_is_what_happens(
    begin: Begin, tenant: UUID, grounds: list[UUID]
) -> None:
    with begin() as session:
        idle = territory_rows.member(session, tenant, inactive_on=TODAY)
        territory_rows.attribution(session, tenant, idle, grounds[0])
        territory_rows.attribution(
            session, tenant, idle, grounds[0], started_on=TODAY + DAY
        )
        draft = replace(SPRING, reassigns=True, territory_ids=frozenset(grounds[:2]))
        values = checked(session, tenant, draft)
        imagined = foretelling.imagined(tenant, values)
        piece = foretelling.piece_of(session, values.territory_ids)
        told = foretelling.start(session, imagined, piece, TODAY)
        assert [row[2].number for row in told.rows] == ["1", "1", "2"]
    id_ = _create(begin, tenant, draft)
    with begin() as session:
        row = session.get_one(Campaign, id_)
        started = dict(row.report["start"])
        started.pop("refused")
        assert told.counts == {k: n for k, n in started.items() if k != "had_it"}
        ending = foretelling.end(
            session, row, foretelling.piece_of(session, frozenset())
        )
        end_campaign(session, id_, INES, NOW)
        assert ending.counts == row.report["end"]


def test_the_work_follows_the_last_day_of_an_active_one(
    begin: Begin, tenant: UUID, grounds: list[UUID]
) -> None:
    id_ = _create(begin, tenant, replace(SPRING, reassigns=True))
    with begin() as session:
        who = session.scalars(select(Attribution.member_id)).first()
        assert who is not None
        later = territory_rows.attribution(
            session, tenant, who, grounds[0], started_on=TODAY + 12 * DAY
        )
    longer = replace(SPRING, reassigns=True, ends_on=TODAY + 14 * DAY)
    _edit(begin, id_, longer)
    with begin() as session:
        own = Attribution.campaign_id == id_
        due = set(session.scalars(select(Attribution.due_on).where(own)))
        moved = session.get_one(Attribution, later)
        assert (moved.started_on, moved.paused_on) == (TODAY + 15 * DAY, None)
    assert due == {TODAY + 14 * DAY}
