"""Engagements and contacts when two write at once, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    Agent,
    Contact,
    Direction,
    Engagement,
    EngagementMessage,
    Suppression,
    SuppressionReason,
    WakeState,
    new_id,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tasks.outreach.agents import get_agent, remove_agent
from tasks.outreach.checks import details
from tasks.outreach.contacts import remove_contact, save_contact
from tasks.outreach.engagements import save_engagement
from tasks.outreach.messages import Mail, note_message
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import ADDRESS, AGENT, engagement

Sessions = sessionmaker[Session]


@pytest.fixture
def tenant(make_session: Sessions) -> UUID:
    with make_session.begin() as session:
        return factories.congregation(session)


def test_two_who_enrol_the_same_contact_at_once_make_one(
    make_session: Sessions, tenant: UUID
) -> None:
    together = Barrier(2)

    def enrol(stage: str) -> bool:
        together.wait()
        with make_session.begin() as session:
            told = {"stage": stage}
            saved = save_engagement(session, tenant, AGENT, ADDRESS, told)
            return saved.created

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(enrol, ("a", "b"))) == [False, True]
    with make_session() as session:
        for model in (Agent, Contact, Engagement):
            assert session.scalar(select(func.count()).select_from(model)) == 1


def test_of_two_who_read_the_same_version_one_is_refused(
    make_session: Sessions, tenant: UUID
) -> None:
    with make_session.begin() as session:
        version = engagement(session, tenant).version
    together = Barrier(2)

    def change(stage: str) -> str:
        together.wait()
        read = frozenset({version})
        try:
            with make_session.begin() as session:
                told = {"stage": stage}
                save_engagement(session, tenant, AGENT, ADDRESS, told, expected=read)
        except Conflict as refused:
            return refused.code
        return "saved"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(change, ("a", "b"))) == ["saved", "version_mismatch"]


def test_the_same_mail_reported_by_two_at_once_counts_once(
    make_session: Sessions, tenant: UUID
) -> None:
    with make_session.begin() as session:
        id_ = engagement(session, tenant).id
    together = Barrier(2)

    def report(_number: int) -> bool:
        together.wait()
        with make_session.begin() as session:
            mail = Mail(Direction.OUTBOUND, "m1")
            return note_message(session, tenant, AGENT, ADDRESS, mail).is_new

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(report, range(2))) == [False, True]
    with make_session() as session:
        assert session.get_one(Engagement, id_).outbound_count == 1


def test_mails_may_be_reported_late_and_in_any_order(
    make_session: Sessions, tenant: UUID
) -> None:
    hour = timedelta(hours=1)
    with make_session.begin() as session:
        engagement(session, tenant)
        for id_, way, at, conversation in (
            ("b", Direction.OUTBOUND, NOW, "second"),
            ("c", Direction.INBOUND, NOW - hour, "first"),
            ("a", Direction.OUTBOUND, NOW - 2 * hour, "first"),
        ):
            mail = Mail(way, id_, at, conversation)
            row = note_message(session, tenant, AGENT, ADDRESS, mail, now=NOW).row
    assert (row.first_outbound_at, row.last_outbound_at) == (NOW - 2 * hour, NOW)
    assert row.last_conversation_id == "second"
    assert row.has_replied


def test_a_removed_contact_takes_its_engagements_and_leaves_what_stops_mails(
    make_session: Sessions, tenant: UUID
) -> None:
    with make_session.begin() as session:
        engagement(session, tenant)
        note_message(session, tenant, AGENT, ADDRESS, Mail(Direction.INBOUND, "m"))
        suppress(session, tenant, ADDRESS, SuppressionReason.ASKED, SYSTEM)
        remove_contact(session, tenant, ADDRESS)
    with make_session() as session:
        for model in (Contact, Engagement, EngagementMessage):
            assert session.scalar(select(func.count()).select_from(model)) == 0
        assert session.scalar(select(func.count()).select_from(Suppression)) == 1


def test_an_agent_that_comes_back_inherits_nothing_but_consent(
    make_session: Sessions, tenant: UUID
) -> None:
    with make_session.begin() as session:
        engagement(session, tenant)
        why = SuppressionReason.ASKED
        suppress(session, tenant, ADDRESS, why, SYSTEM, agent=AGENT)
        remove_agent(session, get_agent(session, tenant, AGENT), SYSTEM)
    with make_session.begin() as session:
        assert session.scalars(select(Engagement)).all() == []
        row = engagement(session, tenant, next_action_at=None)
        assert (row.wake_state, row.revision) == (WakeState.IDLE, 0)
        assert session.scalars(select(Suppression.agent)).all() == [AGENT]


def test_what_names_no_congregation_is_refused(make_session: Sessions) -> None:
    with make_session.begin() as session, pytest.raises(NotFound):
        save_contact(session, new_id(), ADDRESS, {})


def test_tags_and_dots_of_an_address_make_another_contact(
    make_session: Sessions, tenant: UUID
) -> None:
    with make_session.begin() as session:
        for address in ("Zoe@example.org", "zoe+x@example.org", " zoe@EXAMPLE.org "):
            save_contact(session, tenant, address, {})
        found = session.scalars(select(Contact.address).order_by(Contact.address)).all()
    assert sorted(found) == ["zoe+x@example.org", "zoe@example.org"]


@pytest.mark.parametrize(
    "value",
    [
        [],
        "x",
        {"a": float("nan")},
        {"a": "x\0"},
        {"\0": 1},
        {1: 2},
        {"a": "\ud800"},
        {"a": object()},
        {"a": [[[[[[[[[[[1]]]]]]]]]]]},
    ],
)
def test_metadata_that_no_database_keeps_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        details(value, "metadata")
