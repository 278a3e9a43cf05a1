"""The lane ``contact_due``: a due engagement becomes one durable event."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import func, select

from tasks.automation.condition_checks import problems_of
from tasks.automation.triggers import TRIGGERS
from tasks.lanes.contact_due import ContactDueSweep
from tasks.models import Decision, EventData, Execution, WakeState
from tasks.outreach.contacts import save_contact
from tasks.outreach.telling import event_id_of
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import ADDRESS, AGENT, sweep_due
from tests.tasks.lanes.contact_due.conftest import (
    MINUTE,
    Sessions,
    events_of,
    get_row,
    move_schedule,
)


def test_a_due_engagement_is_announced_once(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    id_ = add()
    assert sweep_due(make_session).announced == (id_,)
    assert sweep_due(make_session) == ContactDueSweep()
    row = get_row(make_session, id_)
    assert (row.wake_state, row.settled_at) == (WakeState.ANNOUNCED, NOW)
    (told,) = events_of(make_session)
    assert (told.type, told.podcast_id) == ("contact.due", None)
    assert (told.external_id, told.occurred_at) == (event_id_of(row), NOW)


def test_what_is_not_due_waits(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    id_ = add(next_action_at=NOW + MINUTE)
    add("max@example.org", next_action_at=None)
    assert sweep_due(make_session) == ContactDueSweep()
    assert sweep_due(make_session, NOW + MINUTE).announced == (id_,)


def test_an_instant_that_has_passed_is_announced_once_and_not_made_up_for(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add(next_action_at=NOW - timedelta(days=400))
    assert len(sweep_due(make_session).announced) == 1
    assert sweep_due(make_session, NOW + timedelta(days=1)) == ContactDueSweep()


@pytest.mark.parametrize("between", [NOW - MINUTE, None])
def test_a_schedule_that_comes_back_is_announced_again(
    make_session: Sessions,
    add: Callable[..., UUID],
    tenant: UUID,
    between: datetime | None,
) -> None:
    id_ = add()
    sweep_due(make_session)
    first = event_id_of(get_row(make_session, id_))
    move_schedule(make_session, tenant, between)
    sweep_due(make_session)
    move_schedule(make_session, tenant, NOW)
    assert sweep_due(make_session).announced == (id_,)
    ids = [told.external_id for told in events_of(make_session)]
    assert len(set(ids)) == len(ids) == (2 if between is None else 3)
    assert ids[0] == first


def test_the_same_instant_told_twice_wakes_nobody_twice(
    make_session: Sessions, add: Callable[..., UUID], tenant: UUID
) -> None:
    add()
    sweep_due(make_session)
    move_schedule(make_session, tenant, NOW)
    assert sweep_due(make_session) == ContactDueSweep()


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
    sweep_due(make_session)
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
    sweep_due(make_session)
    with make_session() as session:
        assert session.scalar(select(func.count()).select_from(Execution)) == 1


def test_no_content_goes_with_the_event(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add()
    sweep_due(make_session)
    with make_session() as session:
        data = session.scalars(select(EventData.data)).one()
        n_rows = session.scalar(select(func.count()).select_from(EventData))
    assert n_rows == 1
    names = set(data) | set(data["contact"]) | set(data["engagement"])
    assert not names & {"subject", "body", "text", "html", "message", "suggestion"}
