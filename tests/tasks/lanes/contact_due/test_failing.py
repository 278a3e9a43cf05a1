"""The lane ``contact_due`` when a row or the database fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, event, update
from sqlalchemy.exc import OperationalError

from tasks.lanes import contact_due
from tasks.lanes.contact_due import BatchLost, ContactDueSweep
from tasks.models import Contact, Engagement, WakeState
from tasks.operations.audit import SYSTEM
from tasks.outreach import deeds
from tasks.outreach.claiming import Due
from tasks.outreach.looking import get_engagement
from tests.support.factories import NOW
from tests.support.outreach import ADDRESS, sweep_due
from tests.tasks.lanes.contact_due.conftest import (
    Sessions,
    events_of,
    get_row,
)


def test_one_bad_row_is_set_aside_and_blocks_no_other(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    bad, good = add(), add("max@example.org")
    with make_session.begin() as session:
        huge = {"x": "y" * 70_000}
        session.execute(
            update(Contact).where(Contact.address == ADDRESS).values(details=huge)
        )
    done = sweep_due(make_session)
    assert (done.set_aside, done.announced) == ((bad,), (good,))
    assert "65536" in (get_row(make_session, bad).trouble or "")
    assert sweep_due(make_session) == ContactDueSweep()
    with make_session.begin() as session:
        session.execute(update(Contact).values(details={}))
        deeds.try_again(session, get_engagement(session, bad), SYSTEM, NOW)
    assert sweep_due(make_session).announced == (bad,)


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
        sweep_due(make_session)
    assert lost.value.n_attempted == 3
    assert "3 engagements" in str(lost.value)
    assert events_of(make_session) == []
    assert set(sweep_due(make_session).announced) == ids


def test_a_database_that_fails_before_the_claim_has_none_attempted(
    engine: Engine, make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add()

    def refuse(*args: Any) -> None:
        if "FROM engagements" in args[2]:
            raise OperationalError("the claim", {}, OSError("the disk is gone"))

    event.listen(engine, "before_cursor_execute", refuse)
    with pytest.raises(BatchLost) as lost:
        sweep_due(make_session)
    event.remove(engine, "before_cursor_execute", refuse)
    assert lost.value.n_attempted == 0
    assert "before any engagement was claimed" in str(lost.value)
    assert len(sweep_due(make_session).announced) == 1


def test_a_replay_after_the_commit_is_the_same_event(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    id_ = add()
    sweep_due(make_session)
    with make_session.begin() as session:
        session.execute(
            update(Engagement).values(wake_state=WakeState.ARMED, wake_at=NOW)
        )
    assert sweep_due(make_session).announced == (id_,)
    assert len(events_of(make_session)) == 1


def test_one_that_makes_the_program_fail_is_set_aside_and_can_be_tried_again(
    make_session: Sessions, add: Callable[..., UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, *good = add(), add("max@example.org"), add("eva@example.org")
    usual = contact_due.why_passed

    def breaks(due: Due) -> Any:
        if due.row.id == bad:
            raise ZeroDivisionError
        return usual(due)

    with monkeypatch.context() as broken:
        broken.setattr(contact_due, "why_passed", breaks)
        done = sweep_due(make_session)
    assert (done.set_aside, set(done.announced)) == ((bad,), set(good))
    row = get_row(make_session, bad)
    assert (row.wake_state, row.trouble) == (WakeState.SET_ASIDE, contact_due.BROKE)
    assert len(events_of(make_session)) == 2
    with make_session.begin() as session:
        deeds.try_again(session, get_engagement(session, bad), SYSTEM, NOW)
    assert sweep_due(make_session).announced == (bad,)


def test_what_breaks_behind_the_events_leaves_none_of_them(
    make_session: Sessions, add: Callable[..., UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add(), add("max@example.org"), add("eva@example.org")]
    usual = contact_due.scheduling.announced

    def breaks(row: Engagement, now: Any) -> None:
        usual(row, now)
        if row.id == ids[1]:
            raise ZeroDivisionError

    monkeypatch.setattr(contact_due.scheduling, "announced", breaks)
    done = sweep_due(make_session)
    assert (done.set_aside, len(done.announced)) == ((ids[1],), 2)
    assert len(events_of(make_session)) == 2
    assert get_row(make_session, ids[1]).wake_state is WakeState.SET_ASIDE
