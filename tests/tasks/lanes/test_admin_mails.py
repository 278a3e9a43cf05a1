"""The lane ``admin_mails``: each admin is told once, in spite of outages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

import dashboard.operators.models as console
from tasks.automation.actions.base import GiveUp, Outcome, TryAgain
from tasks.lane import Bench
from tasks.lanes.admin_mails import AT_ONCE, AdminMailsSweep, backlog, sweep
from tasks.models import AdminMail, AdminMailState, Base
from tasks.models.reason import Reason
from tasks.operations.admin_mails import (
    OPERATOR_CONGREGATIONS,
    OPERATORS,
    OPERATORS_ROLES,
    ROLES,
    Telling,
    Words,
    admins_of,
    mail_admins,
)
from tasks.saying import say
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.operators import operator

Sessions = sessionmaker[Session]
ADMIN = "ada@example.org"
SAID = Words("Something", "Look at it.")
TELLING = Telling("k", "/webhooks/1", lambda: SAID)


@pytest.fixture
def tenant(make_session: Sessions) -> UUID:
    """Return a congregation whose one admin is told something."""
    with make_session.begin() as session:
        operator(session, ADMIN, "admin")
        of = factories.congregation(session)
        assert mail_admins(session, of, TELLING, NOW) == 1
        assert mail_admins(session, of, TELLING, NOW) == 0
    return of


def _bench(
    make_session: Sessions, post: FakePost, now: datetime = NOW, **values: Any
) -> Bench:
    return bench(make_session, lambda: now, post, **values)


def _one(make_session: Sessions) -> AdminMail:
    with make_session() as session:
        return session.scalars(select(AdminMail)).one()


@pytest.mark.usefixtures("tenant")
def test_a_mail_goes_out_once_and_names_the_page(make_session: Sessions) -> None:
    post = FakePost()
    made = _bench(make_session, post, console_url="https://carillon.example.org")
    with make_session() as session:
        waits = backlog(session, NOW)
    assert (waits.n_due, waits.oldest_due_at) == (1, NOW)
    mail = _one(make_session)
    assert sweep(made, 20).sent == (mail.id,)
    assert sweep(made, 20) == AdminMailsSweep()
    ((envelope, message),) = post.sent
    assert (envelope.execution_id, message["to"]) == (mail.id, ADMIN)
    assert "https://carillon.example.org/webhooks/1" in message["text"]


@pytest.mark.usefixtures("tenant")
def test_a_mail_that_is_not_taken_is_tried_again_and_then_given_up(
    make_session: Sessions,
) -> None:
    refusals: list[tuple[Outcome, str]] = [
        (TryAgain("Not now."), "retried"),
        (GiveUp(Reason.REFUSED, "Nobody here."), "failed"),
    ]
    for hour, (answer, word) in enumerate(refusals):
        now = NOW + timedelta(hours=hour)
        made = _bench(make_session, FakePost(answer), now)
        assert getattr(sweep(made, 20), word) == (_one(make_session).id,)
    mail = _one(make_session)
    assert (mail.state, mail.error, mail.attempt) == (
        AdminMailState.FAILED,
        "Nobody here.",
        2,
    )


@pytest.mark.usefixtures("tenant")
def test_what_a_dead_worker_held_goes_out_and_its_late_word_counts_for_nothing(
    make_session: Sessions,
) -> None:
    later = _bench(make_session, FakePost(), NOW + timedelta(minutes=4))

    def hang(_: object) -> TryAgain:
        assert len(sweep(later, 20).sent) == 1  # another worker takes it meanwhile
        return TryAgain("late")

    assert len(sweep(_bench(make_session, FakePost(hang)), 20).lost) == 1
    mail = _one(make_session)
    assert (mail.state, mail.attempt) == (AdminMailState.SENT, 2)


def test_the_oldest_go_first_and_a_sweep_has_its_limit(
    make_session: Sessions, tenant: UUID
) -> None:
    first = _one(make_session).id
    with make_session.begin() as session:
        for number in range(AT_ONCE):
            telling = Telling(f"n{number}", "/", lambda: SAID)
            at = NOW + timedelta(minutes=number + 1)
            mail_admins(session, tenant, telling, at)
    made = _bench(make_session, FakePost(), NOW + timedelta(hours=1))
    done = sweep(made, 1)
    assert (done.sent, done.is_full) == ((first,), True)
    assert len(sweep(made, 20).sent) == AT_ONCE


def test_only_admins_who_see_the_congregation_are_told(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        here = factories.congregation(session)
        there = factories.congregation(session, "elsewhere")
        operator(session, ADMIN, "admin")
        operator(session, "off@example.org", "admin", active=False)
        operator(session, "olga@example.org", "operator")
        for email, of in (("bea@example.org", here), ("cid@example.org", there)):
            row = operator(session, email, "admin", sees_all=False)
            session.execute(
                console.operator_congregations.insert().values(
                    operator_id=row.id, congregation_id=of
                )
            )
        assert list(admins_of(session, here)) == [ADMIN, "bea@example.org"]


def test_each_admin_is_told_in_a_language_of_their_own(make_session: Sessions) -> None:
    telling = Telling("k", "/", lambda: Words(say("Failures"), say("Try again")))
    with make_session.begin() as session:
        of = factories.congregation(session, locale="fr")
        elsewhere = factories.congregation(session, "elsewhere", locale="de")
        operator(session, ADMIN, "admin", language="en")
        operator(session, "bea@example.org", "admin")
        assert mail_admins(session, of, telling, NOW) == 2
        assert set(admins_of(session, elsewhere).values()) == {"en"}
        assert set(admins_of(session, None).values()) == {"en"}
        mails = session.scalars(select(AdminMail).order_by(AdminMail.address)).all()
        said = [(mail.language, mail.subject, mail.body) for mail in mails]
    assert said == [("en", "Failures", "Try again"), ("fr", "Échecs", "Réessayer")]

    post = FakePost()
    sweep(_bench(make_session, post), 20)
    assert [message["locale"] for _, message in post.sent] == ["en", "fr"]


def test_the_names_by_which_the_engine_reads_operators_are_the_consoles() -> None:
    for known in (OPERATORS, ROLES, OPERATORS_ROLES, OPERATOR_CONGREGATIONS):
        table = Base.metadata.tables[known.name]
        for column in known.c:
            assert type(table.c[column.name].type) is type(column.type)
