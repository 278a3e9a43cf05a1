"""What the pages of outreach read gives the same on both databases, in a scope."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import sessionmaker

from dashboard.outreach import queries
from dashboard.outreach.story import story
from tasks.db import Begin, CongregationSession, set_scope
from tasks.errors import NotFound
from tasks.models import Direction, SuppressionReason, WakeState
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tasks.outreach import deeds
from tasks.outreach.finding import Wanted
from tasks.outreach.messages import Mail, note_message
from tasks.search.outreach import CONTACTS
from tasks.search.plain import plain_conditions
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import ADDRESS, AGENT, engagement
from tests.support.statements import statements

LATER = NOW + timedelta(days=1)


@pytest.fixture
def twins(begin: Begin) -> list[tuple[UUID, UUID]]:
    """Return two congregations with the same engagement, mailed, silenced and seen."""
    found = []
    with begin() as session:
        for slug in ("a", "b"):
            of = factories.congregation(session, slug)
            row = engagement(session, of)
            note_message(session, of, AGENT, ADDRESS, Mail(Direction.OUTBOUND, "m"))
            deeds.pause(session, row, SYSTEM, NOW)
            why = SuppressionReason.ASKED
            suppress(session, of, ADDRESS, why, SYSTEM, agent=AGENT)
            found.append((of, row.id))
    return found


@pytest.fixture
def inside(engine: Engine, twins: list[tuple[UUID, UUID]]) -> CongregationSession:
    """Return a session that sees the first of both."""
    session = sessionmaker(engine, class_=CongregationSession)()
    set_scope(session, frozenset({twins[0][0]}))
    return session


def test_the_pages_see_their_own_rows_and_no_others(
    inside: CongregationSession, twins: list[tuple[UUID, UUID]]
) -> None:
    with inside as session:
        zoe = plain_conditions(CONTACTS, "", "Zoe")
        (one,) = queries.listed(session, Wanted(), None, 10).rows
        assert one.row.id == twins[0][1]
        assert one.is_suppressed
        assert one.is_paused
        assert len(queries.contacts(session, zoe, None, 10).rows) == 1
        (agent,) = queries.agents(session, [], LATER, None, 10).rows
        assert (agent.n_armed, agent.due_since) == (1, NOW)
        before = NOW - timedelta(days=1)
        assert queries.agents(session, [], before, None, 10).rows[0].due_since is None
        assert [moment.icon for moment in story(session, one.row)].count("person") == 1
        with pytest.raises(NotFound):
            queries.engagement(session, twins[1][1])


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(agent=AGENT),
        Wanted(beginning="zoe@"),
        Wanted(state=WakeState.ARMED, next_action_before=LATER),
        Wanted(suppressed=True),
        Wanted(replied=False),
        Wanted(stage=""),
        Wanted(last_outbound_before=LATER + timedelta(days=30_000)),
    ],
)
def test_each_filter_finds_it(inside: CongregationSession, wanted: Wanted) -> None:
    with inside as session:
        assert len(queries.listed(session, wanted, None, 10).rows) == 1


def test_a_list_costs_one_query(inside: CongregationSession) -> None:
    with inside as session, statements() as seen:
        queries.listed(session, Wanted(), None, 10)
    assert len([each for each in seen if each.startswith("SELECT")]) == 1
