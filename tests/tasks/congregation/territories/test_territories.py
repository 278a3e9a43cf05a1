"""Territories are given out, given back, paused and resumed; campaigns have a say."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns.transitions import move
from tasks.congregation.territories import attributions, giving, territories
from tasks.congregation.territories.giving import Gift
from tasks.congregation.territories.resting import resting_until
from tasks.congregation.territories.territories import TerritoryDraft
from tasks.errors import InvalidInput
from tasks.models import (
    Attribution,
    AuditEntry,
    CampaignTerritory,
    Member,
    Territory,
    new_id,
)
from tasks.operations.audit import Actor
from tests.support import factories, territory_rows
from tests.support.factories import NOW
from tests.support.territory_rows import TODAY

Begin = Callable[[], AbstractContextManager[Session]]
DAY = timedelta(days=1)
INES = Actor("ines@example.org")


@pytest.fixture
def tenant(begin: Begin) -> UUID:
    with begin() as session:
        return factories.congregation(session, timezone="Europe/Paris")


@pytest.fixture
def who(begin: Begin, tenant: UUID) -> UUID:
    with begin() as session:
        return territory_rows.member(session, tenant)


@pytest.fixture
def ground(begin: Begin, tenant: UUID) -> UUID:
    with begin() as session:
        return territory_rows.territory(session, tenant)


def _gift(who: UUID | None) -> Gift:
    return Gift(who, TODAY, TODAY + 30 * DAY)


def _refused(begin: Begin, act: Callable[[Session], object]) -> tuple[str, str | None]:
    with pytest.raises(InvalidInput) as refused, begin() as session:
        act(session)
    return refused.value.code, refused.value.field


def _give(begin: Begin, ground: UUID, gift: Gift) -> UUID:
    with begin() as session:
        return giving.give(session, ground, gift, INES, NOW).id


def test_a_territory_is_given_out_paused_resumed_and_given_back(
    begin: Begin, ground: UUID, who: UUID
) -> None:
    id_ = _give(begin, ground, _gift(who))
    with begin() as session:
        attributions.pause(session, id_, INES, NOW + DAY)
    assert _refused(begin, lambda s: attributions.pause(s, id_, INES, NOW)) == (
        "is_paused",
        None,
    )
    with begin() as session:
        row = attributions.resume(session, id_, INES, NOW + 6 * DAY)
        assert (row.due_on, row.paused_on) == (TODAY + 35 * DAY, None)
        attributions.postpone(session, id_, TODAY + 40 * DAY, INES, NOW)
    assert _refused(begin, lambda s: attributions.resume(s, id_, INES, NOW)) == (
        "not_paused",
        None,
    )

    def given_back(day: date | None) -> tuple[str, str | None]:
        return _refused(begin, lambda s: attributions.give_back(s, id_, day, INES, NOW))

    for day in (TODAY - DAY, TODAY + DAY, None):
        assert given_back(day)[1] == "ended_on"
    with begin() as session:
        attributions.give_back(session, id_, TODAY, INES, NOW)
        assert resting_until(session, [ground]) == {ground: TODAY + 15 * DAY}
        summaries = session.scalars(
            select(AuditEntry.summary).order_by(AuditEntry.id)
        ).all()
    assert summaries[0] == "Territory 1 was given out until 2026-04-09."
    assert summaries[-1] == "The work on territory 1 was given back on 2026-03-10."
    assert _refused(
        begin, lambda s: attributions.give_back(s, id_, TODAY, INES, NOW)
    ) == ("has_ended", None)


def test_who_may_get_what(begin: Begin, tenant: UUID, ground: UUID, who: UUID) -> None:
    def refused(gift: Gift) -> tuple[str, str | None]:
        return _refused(begin, lambda s: giving.give(s, ground, gift, INES, NOW))

    with begin() as session:
        gone = territory_rows.member(session, tenant, left_on=TODAY)
        idle = territory_rows.member(session, tenant, inactive_on=TODAY)
        other = factories.congregation(session, "other")
        stranger = territory_rows.member(session, other)
    gift = _gift(who)
    assert refused(_gift(gone)) == ("has_left", "member_id")
    assert refused(_gift(idle)) == ("inactive", "member_id")
    assert refused(_gift(stranger)) == ("unknown_member", "member_id")
    assert refused(_gift(None)) == ("missing", "member_id")
    assert refused(replace(gift, due_on=TODAY - DAY)) == ("due_out_of_range", "due_on")
    assert refused(replace(gift, started_on=None)) == ("missing", "started_on")
    assert refused(replace(gift, method="shout")) == ("unknown_word", "method")
    assert refused(replace(gift, for_campaign=True)) == ("no_campaign", "for_campaign")
    id_ = _give(begin, ground, gift)
    assert refused(gift) == ("territory_taken", "member_id")
    with begin() as session:
        attributions.give_back(session, id_, TODAY, INES, NOW)
    assert refused(gift) == ("territory_rests", "despite_rest")
    _give(begin, ground, replace(gift, despite_rest=True))


def test_while_a_campaign_is_active_territories_are_given_out_for_it_alone(
    begin: Begin, tenant: UUID, ground: UUID, who: UUID
) -> None:
    with begin() as session:
        outside = territory_rows.territory(session, tenant, "2")
        id_ = territory_rows.campaign(session, tenant, rest_days=3)
        session.add(
            CampaignTerritory(
                congregation_id=tenant, campaign_id=id_, territory_id=ground
            )
        )
        territory_rows.attribution(session, tenant, who, ground)
        move(session, tenant, NOW)
    regular, own = _gift(who), replace(_gift(who), for_campaign=True)

    def refused(ground: UUID, gift: Gift) -> tuple[str, str | None]:
        return _refused(begin, lambda s: giving.give(s, ground, gift, INES, NOW))

    assert refused(outside, regular) == ("campaign_active", "for_campaign")
    assert refused(outside, own) == ("out_of_scope", "for_campaign")
    late = replace(own, started_on=TODAY + 10 * DAY)
    assert refused(ground, late) == ("outside_campaign", "started_on")
    work = _give(begin, ground, own)  # somebody holds it, paused: another layer
    assert refused(ground, own) == ("territory_taken", "member_id")
    assert _refused(begin, lambda s: attributions.pause(s, work, INES, NOW)) == (
        "of_campaign",
        None,
    )
    after = replace(regular, started_on=TODAY + 10 * DAY)
    _give(begin, outside, after)
    with begin() as session:
        move(session, tenant, NOW + 10 * DAY)
        assert resting_until(session, [ground]) == {ground: TODAY + 12 * DAY}


def test_territories_are_made_changed_and_deleted_unless_something_names_them(
    begin: Begin, tenant: UUID, ground: UUID, who: UUID
) -> None:
    draft = TerritoryDraft("2", "Harbour", "shops")
    with begin() as session:
        id_ = territories.create_territory(session, tenant, draft, INES).id
        assert territories.edit_territory(session, id_, replace(draft, name=""), INES)
        assert not territories.edit_territory(
            session, id_, replace(draft, name=""), INES
        )

    def edited(draft: TerritoryDraft) -> str:
        return _refused(
            begin, lambda s: territories.edit_territory(s, id_, draft, INES)
        )[0]

    def late(session: Session) -> bool:
        return territories.edit_territory(session, id_, draft, INES, version=1)

    assert _refused(begin, late)[0] == "changed_meanwhile"
    assert edited(replace(draft, number="1")) == "number_taken"
    assert edited(replace(draft, number="")) == "missing"
    assert edited(replace(draft, kind="moon")) == "unknown_word"
    starts = {"starts_on": TODAY + DAY}
    with begin() as session:
        territory_rows.attribution(session, tenant, who, ground)
        campaign = territory_rows.campaign(session, tenant, **starts)
        session.add(
            CampaignTerritory(
                congregation_id=tenant, campaign_id=campaign, territory_id=id_
            )
        )

    def refused(id_: UUID) -> str:
        return _refused(begin, lambda s: territories.delete_territory(s, id_, INES))[0]

    assert refused(ground) == "territory_worked"
    assert refused(id_) == "territory_in_scope"
    assert refused(new_id()) == "unknown_territory"
    with begin() as session:
        session.delete(session.scalars(select(CampaignTerritory)).one())
        session.flush()
        territories.delete_territory(session, id_, INES)
    with begin() as session:
        assert session.scalars(select(Territory.number)).all() == ["1"]
        assert session.scalars(select(Attribution.territory_id)).all() == [ground]
        assert session.scalars(select(Member.id)).all() == [who]
