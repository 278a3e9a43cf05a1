"""The lane ``contact_due``: a due engagement becomes one durable event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, event, func, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.condition_checks import problems_of
from tasks.automation.triggers import TRIGGERS
from tasks.lane import tally
from tasks.lanes.contact_due import BatchLost, ContactDueSweep, backlog, sweep
from tasks.models import (
    Contact,
    Decision,
    Engagement,
    Event,
    EventData,
    Execution,
    PassedBecause,
    SuppressionReason,
    WakeState,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import lift, suppress
from tasks.outreach import agents, deeds
from tasks.outreach.contacts import save_contact
from tasks.outreach.engagements import save_engagement
from tasks.outreach.looking import get_engagement
from tasks.outreach.telling import event_id_of
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.outreach import ADDRESS, AGENT, engagement
from tests.support.statements import statements

Sessions = sessionmaker[Session]
MINUTE = timedelta(minutes=1)


@pytest.fixture
def tenant(make_session: Sessions) -> UUID:
    with make_session.begin() as session:
        return factories.congregation(session, timezone="Europe/Paris")


@pytest.fixture
def add(make_session: Sessions, tenant: UUID) -> Callable[..., UUID]:
    """Return a function that enrols a contact that is due."""

    def enrol(*args: Any, **values: Any) -> UUID:
        with make_session.begin() as session:
            of = values.pop("of", tenant)
            return engagement(session, of, *args, **values).id

    return enrol


def _sweep(
    make_session: Sessions, now: datetime = NOW, limit: int = 200
) -> ContactDueSweep:
    return sweep(bench(make_session, lambda: now, FakePost()), limit)


def _get(make_session: Sessions, id_: UUID) -> Engagement:
    with make_session() as session:
        return session.get_one(Engagement, id_)


def _events(make_session: Sessions) -> list[Event]:
    with make_session() as session:
        return list(session.scalars(select(Event).order_by(Event.id)))


def _move(make_session: Sessions, tenant: UUID, at: datetime | None) -> None:
    with make_session.begin() as session:
        told = {"next_action_at": at}
        save_engagement(session, tenant, AGENT, ADDRESS, told, now=NOW)


def test_a_due_engagement_is_announced_once(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    id_ = add()
    assert _sweep(make_session).announced == (id_,)
    assert _sweep(make_session) == ContactDueSweep()
    row = _get(make_session, id_)
    assert (row.wake_state, row.settled_at) == (WakeState.ANNOUNCED, NOW)
    (told,) = _events(make_session)
    assert (told.type, told.podcast_id) == ("contact.due", None)
    assert (told.external_id, told.occurred_at) == (event_id_of(row), NOW)


def test_what_is_not_due_waits(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    id_ = add(next_action_at=NOW + MINUTE)
    add("max@example.org", next_action_at=None)
    assert _sweep(make_session) == ContactDueSweep()
    assert _sweep(make_session, NOW + MINUTE).announced == (id_,)


def test_an_instant_that_has_passed_is_announced_once_and_not_made_up_for(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add(next_action_at=NOW - timedelta(days=400))
    assert len(_sweep(make_session).announced) == 1
    assert _sweep(make_session, NOW + timedelta(days=1)) == ContactDueSweep()


@pytest.mark.parametrize("between", [NOW - MINUTE, None])
def test_a_schedule_that_comes_back_is_announced_again(
    make_session: Sessions,
    add: Callable[..., UUID],
    tenant: UUID,
    between: datetime | None,
) -> None:
    id_ = add()
    _sweep(make_session)
    first = event_id_of(_get(make_session, id_))
    _move(make_session, tenant, between)
    _sweep(make_session)
    _move(make_session, tenant, NOW)
    assert _sweep(make_session).announced == (id_,)
    ids = [told.external_id for told in _events(make_session)]
    assert len(set(ids)) == len(ids) == (2 if between is None else 3)
    assert ids[0] == first


def test_the_same_instant_told_twice_wakes_nobody_twice(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    add()
    _sweep(make_session)
    _move(make_session, tenant, NOW)
    assert _sweep(make_session) == ContactDueSweep()


def test_rules_hear_of_it_and_mail_the_agent(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    with make_session.begin() as session:
        settings = factories.EMAIL_SETTINGS | {
            "recipient": "agent",
            "subject": "{{ contact.address }} is due",
            "text": "{{ engagement.stage }}",
        }
        rule = {"trigger_type": "contact.due", "settings": settings}
        factories.rule(session, tenant, **rule)
        factories.rule(session, tenant, **rule, podcast_id="show")
    add()
    _sweep(make_session)
    with make_session() as session:
        execution = session.scalars(select(Execution)).one()
        assert (execution.recipient, execution.podcast_id) == (AGENT, None)
        reasons = set(session.scalars(select(Decision.reason)))
        assert reasons == {None, "out_of_scope"}


def test_rules_may_ask_for_what_the_event_says(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    asks = (
        ("engagement.outbound_count", "less", "1"),
        ("engagement.replied", "is", "false"),
        ("contact.metadata.city", "is", "Basel"),
    )
    rows = [
        {"field": field, "operator": operator, "value": value}
        for field, operator, value in asks
    ]
    assert problems_of({"rows": rows}, TRIGGERS["contact.due"]) == {}
    with make_session.begin() as session:
        settings = factories.EMAIL_SETTINGS | {"recipient": "agent"}
        rule = {"trigger_type": "contact.due", "settings": settings}
        factories.rule(session, tenant, **rule, conditions={"rows": rows})
    add()
    add("max@example.org")
    with make_session.begin() as session:
        city = {"city": "Basel"}
        save_contact(session, tenant, ADDRESS, {"metadata": city})
    _sweep(make_session)
    with make_session() as session:
        assert session.scalar(select(func.count()).select_from(Execution)) == 1


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
    done = _sweep(make_session)
    assert set(done.announced) == {other, not_mine}
    assert set(done.passed) == {silent, asleep, mine}
    assert _get(make_session, silent).passed_because is PassedBecause.SUPPRESSED
    row = _get(make_session, mine)
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
    assert _sweep(make_session, NOW + MINUTE).announced == (ahead,)
    assert _get(make_session, past).wake_state is WakeState.PASSED


def test_lifting_what_one_agent_may_not_leaves_the_others_engagements_alone(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    mine, other = add(), add(agent="b@agents.example.org")
    with make_session.begin() as session:
        why = SuppressionReason.ASKED
        id_ = suppress(session, tenant, ADDRESS, why, SYSTEM, agent=AGENT).id
        lift(session, id_, SYSTEM, now=NOW)
    assert _sweep(make_session).announced == (other,)
    assert _get(make_session, mine).wake_state is WakeState.PASSED


def test_resuming_fires_nothing_stale_and_keeps_what_is_ahead(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    past = add()
    ahead = add("max@example.org", next_action_at=NOW + MINUTE)
    with make_session.begin() as session:
        agent = agents.get_agent(session, tenant, AGENT)
        agents.pause_agent(session, agent, SYSTEM)
        assert agents.resume_agent(session, agent, SYSTEM, now=NOW) == 1
    assert _sweep(make_session, NOW + MINUTE).announced == (ahead,)
    row = _get(make_session, past)
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
    assert _sweep(make_session).passed == (ids[1],)
    assert _events(make_session) == []


def test_quiet_hours_let_it_wait_for_their_end(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    # In Paris it is one o'clock in the afternoon; in Tokyo nine in the evening.
    id_ = add(quiet_from="21:00", quiet_until="07:30", timezone="Asia/Tokyo")
    awake = add("max@example.org", quiet_from="21:00", quiet_until="07:30")
    done = _sweep(make_session)
    assert (done.waiting, done.announced) == ((id_,), (awake,))
    morning = datetime.fromisoformat("2026-03-11T07:30+09:00")
    assert _get(make_session, id_).wake_at == morning
    assert _sweep(make_session, morning - MINUTE) == ContactDueSweep()
    assert _sweep(make_session, morning).announced == (id_,)


def test_one_bad_row_is_set_aside_and_blocks_no_other(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    bad, good = add(), add("max@example.org")
    with make_session.begin() as session:
        huge = {"x": "y" * 70_000}
        session.execute(
            update(Contact).where(Contact.address == ADDRESS).values(details=huge)
        )
    done = _sweep(make_session)
    assert (done.set_aside, done.announced) == ((bad,), (good,))
    assert "65536" in (_get(make_session, bad).trouble or "")
    assert _sweep(make_session) == ContactDueSweep()
    with make_session.begin() as session:
        session.execute(update(Contact).values(details={}))
        deeds.try_again(session, get_engagement(session, bad), SYSTEM, NOW)
    assert _sweep(make_session).announced == (bad,)


@contextmanager
def _no_events(engine: Engine) -> Iterator[None]:
    """Let the database refuse whatever is written into the table of events."""

    def refuse(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith("INSERT INTO events "):
            raise OperationalError(statement, {}, OSError("the disk is full"))

    event.listen(engine, "before_cursor_execute", refuse)
    yield
    event.remove(engine, "before_cursor_execute", refuse)


def test_an_event_that_cannot_be_stored_rolls_the_claim_back(
    engine: Engine, make_session: Sessions, add: Callable[..., UUID]
) -> None:
    ids = {add(), add("max@example.org"), add("ida@example.org")}
    with _no_events(engine), pytest.raises(BatchLost) as lost:
        _sweep(make_session)
    assert lost.value.n_attempted == 3
    assert "3 engagements" in str(lost.value)
    assert _events(make_session) == []
    assert set(_sweep(make_session).announced) == ids


def test_a_database_that_fails_before_the_claim_has_none_attempted(
    engine: Engine, make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add()

    def refuse(*args: Any) -> None:
        if "FROM engagements" in args[2]:
            raise OperationalError("the claim", {}, OSError("the disk is gone"))

    event.listen(engine, "before_cursor_execute", refuse)
    with pytest.raises(BatchLost) as lost:
        _sweep(make_session)
    event.remove(engine, "before_cursor_execute", refuse)
    assert lost.value.n_attempted == 0
    assert "before any engagement was claimed" in str(lost.value)
    assert len(_sweep(make_session).announced) == 1


def test_a_replay_after_the_commit_is_the_same_event(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    id_ = add()
    _sweep(make_session)
    with make_session.begin() as session:
        session.execute(
            update(Engagement).values(wake_state=WakeState.ARMED, wake_at=NOW)
        )
    assert _sweep(make_session).announced == (id_,)
    assert len(_events(make_session)) == 1


def test_the_oldest_go_first_and_the_batch_has_its_limit(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    later = add()
    first = add("max@example.org", next_action_at=NOW - MINUTE)
    done = _sweep(make_session, limit=1)
    assert (done.announced, done.is_full) == ((first,), True)
    assert tally(done) == {"announced": 1}
    done = _sweep(make_session, limit=2)
    assert (done.announced, done.is_full) == ((later,), False)


def test_tenants_take_turns(make_session: Sessions, add: Callable[..., UUID]) -> None:
    for number in range(8):
        add(f"g{number}@example.org", next_action_at=NOW - timedelta(days=1))
    with make_session.begin() as session:
        small = factories.congregation(session, "small")
    id_ = add(of=small)
    assert id_ in _sweep(make_session, limit=4).announced


def test_the_backlog_counts_what_is_due(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add(next_action_at=NOW - MINUTE)
    add("max@example.org")
    add("ida@example.org", next_action_at=NOW + MINUTE)
    with make_session() as session:
        waits = backlog(session, NOW)
    assert (waits.n_due, waits.oldest_due_at) == (2, NOW - MINUTE)


def test_two_workers_announce_each_once(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    ids = {add(f"g{number}@example.org") for number in range(40)}

    def drain(_worker: int) -> list[UUID]:
        seen: list[UUID] = []
        while (done := _sweep(make_session, limit=5)).announced or done.is_full:
            seen += done.announced
        return seen

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(drain, range(2))
    assert sorted([*first, *second]) == sorted(ids)
    assert len(_events(make_session)) == 40


def test_a_batch_costs_the_same_few_statements_whatever_its_size(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    counts = []
    for size in (2, 20):
        for number in range(size):
            add(f"{size}-{number}@example.org")
        with statements() as seen:
            assert len(_sweep(make_session).announced) == size
        counts.append(len(seen))
    assert counts[1] <= counts[0] + 1


def test_no_content_goes_with_the_event(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add()
    _sweep(make_session)
    with make_session() as session:
        data = session.scalars(select(EventData.data)).one()
        n_rows = session.scalar(select(func.count()).select_from(EventData))
    assert n_rows == 1
    names = set(data) | set(data["contact"]) | set(data["engagement"])
    assert not names & {"subject", "body", "text", "html", "message", "suggestion"}
