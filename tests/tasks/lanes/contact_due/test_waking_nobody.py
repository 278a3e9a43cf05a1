"""Suppressed, paused or quiet: nobody is woken, and nothing stale fires later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from tasks.lanes.contact_due import ContactDueSweep
from tasks.models import PassedBecause, SuppressionReason, WakeState
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import lift, suppress
from tasks.outreach import agents, deeds
from tasks.outreach.looking import get_engagement
from tests.support.factories import NOW
from tests.support.outreach import ADDRESS, AGENT, sweep_due
from tests.tasks.lanes.contact_due.conftest import (
    MINUTE,
    Sessions,
    events_of,
    get_row,
)


def test_a_suppressed_address_and_a_paused_agent_wake_nobody_but_others_do(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    silent, other = add(), add("max@example.org")
    asleep = add(agent="night@agents.example.org")
    mine = add("ida@example.org")
    not_mine = add("ida@example.org", agent="day@agents.example.org")
    with make_session.begin() as session:
        why = SuppressionReason.ASKED
        suppress(session, tenant, ADDRESS.upper(), why, SYSTEM)
        suppress(session, tenant, "ida@example.org", why, SYSTEM, agent=AGENT)
        agent = agents.get_agent(session, tenant, "night@agents.example.org")
        agents.pause_agent(session, agent, SYSTEM)
    done = sweep_due(make_session)
    assert set(done.announced) == {other, not_mine}
    assert set(done.passed) == {silent, asleep, mine}
    assert get_row(make_session, silent).passed_because is PassedBecause.SUPPRESSED
    row = get_row(make_session, mine)
    assert row.wake_state is WakeState.PASSED
    assert row.next_action_at == NOW  # it stays visible


def test_lifting_a_suppression_fires_nothing_stale(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    past, ahead = add(), add(agent="b@agents.example.org", next_action_at=NOW + MINUTE)
    with make_session.begin() as session:
        why = SuppressionReason.ASKED
        id_ = suppress(session, tenant, ADDRESS, why, SYSTEM).id
        lift(session, id_, SYSTEM, now=NOW)
    assert sweep_due(make_session, NOW + MINUTE).announced == (ahead,)
    assert get_row(make_session, past).wake_state is WakeState.PASSED


def test_lifting_what_one_agent_may_not_leaves_the_others_engagements_alone(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    mine, other = add(), add(agent="b@agents.example.org")
    with make_session.begin() as session:
        why = SuppressionReason.ASKED
        id_ = suppress(session, tenant, ADDRESS, why, SYSTEM, agent=AGENT).id
        lift(session, id_, SYSTEM, now=NOW)
    assert sweep_due(make_session).announced == (other,)
    assert get_row(make_session, mine).wake_state is WakeState.PASSED


def test_resuming_fires_nothing_stale_and_keeps_what_is_ahead(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    past = add()
    ahead = add("max@example.org", next_action_at=NOW + MINUTE)
    with make_session.begin() as session:
        agent = agents.get_agent(session, tenant, AGENT)
        agents.pause_agent(session, agent, SYSTEM)
        assert agents.resume_agent(session, agent, SYSTEM, now=NOW) == 1
    assert sweep_due(make_session, NOW + MINUTE).announced == (ahead,)
    row = get_row(make_session, past)
    assert row.passed_because is PassedBecause.AGENT_PAUSED
    assert row.next_action_at == NOW


def test_a_paused_engagement_passes_and_resuming_it_fires_nothing_stale(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    ids = [add(), add("max@example.org")]
    with make_session.begin() as session:
        for id_ in ids:
            deeds.pause(session, get_engagement(session, id_), SYSTEM, NOW)
        row = get_engagement(session, ids[0])
        assert deeds.resume(session, row, SYSTEM, NOW)
    assert sweep_due(make_session).passed == (ids[1],)
    assert events_of(make_session) == []


def test_quiet_hours_let_it_wait_for_their_end(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    # In Paris it is one o'clock in the afternoon; in Tokyo nine in the evening.
    id_ = add(quiet_from="21:00", quiet_until="07:30", timezone="Asia/Tokyo")
    awake = add("max@example.org", quiet_from="21:00", quiet_until="07:30")
    done = sweep_due(make_session)
    assert (done.waiting, done.announced) == ((id_,), (awake,))
    morning = datetime.fromisoformat("2026-03-11T07:30+09:00")
    assert get_row(make_session, id_).wake_at == morning
    assert sweep_due(make_session, morning - MINUTE) == ContactDueSweep()
    assert sweep_due(make_session, morning).announced == (id_,)
