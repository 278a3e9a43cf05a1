"""A receiver that is down for a day: warned of once, switched off, and caught up."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

import dashboard.operators.models as console
from dashboard.operators.models import Operator, Role
from tasks.automation.actions.base import GiveUp, TryAgain
from tasks.lanes import admin_mails, deliveries
from tasks.models import AdminMail, AdminMailState, Base, DeliveryState, EndpointEnd
from tasks.models.reason import Reason
from tasks.operations.admin_mails import (
    OPERATOR_CONGREGATIONS,
    OPERATORS,
    OPERATORS_ROLES,
    ROLES,
    Telling,
    admin_addresses,
    mail_admins,
)
from tasks.webhooks.endpoints import enable
from tasks.webhooks.replays import replay_span, retry_failed
from tests.support import factories
from tests.support.fakes import FakePost, bench
from tests.support.hook_sink import Reply
from tests.tasks.webhooks.conftest import ACTOR, Desk

ADMIN = "ada@example.org"
TELLING = Telling("k", "Something", "Look at it.", "/webhooks/1")


def operator(session: Session, email: str, role: str, **values: object) -> Operator:
    found = session.scalars(select(Role).where(Role.name == role)).one_or_none()
    row = Operator(
        email=email,
        name="",
        fs_uniquifier=email,
        **{"active": True, "sees_all": True} | values,
        roles=[found or Role(name=role)],
    )
    session.add(row)
    session.flush()
    return row


def _mails(desk: Desk) -> list[AdminMail]:
    return sorted(desk.world.all(AdminMail), key=lambda row: row.id)


def _until_off(desk: Desk) -> None:
    """Let things happen to an endpoint that answers nothing, for a day and more."""
    for _ in range(13):
        desk.happen()
        desk.work()
        desk.later(hours=3)


def test_a_receiver_that_is_down_for_a_day_is_warned_of_once_and_misses_nothing(
    desk: Desk,
) -> None:
    with desk.begin() as session:
        operator(session, ADMIN, "admin")
    endpoint = desk.endpoint()
    desk.sink.answer("/hook", Reply(503))
    began = desk.now
    _until_off(desk)

    warning, ending = _mails(desk)
    assert {warning.address, ending.address} == {ADMIN}
    assert (warning.subject, ending.subject) == (
        "Webhook endpoint “127.0.0.1” is failing",
        "Webhook endpoint “127.0.0.1” was switched off",
    )
    assert ending.created_at - warning.created_at >= timedelta(hours=6)
    assert began + timedelta(hours=24) <= ending.created_at
    assert desk.fresh(endpoint).disabled_reason is EndpointEnd.FAILING
    reported = [e for e in desk.world.events() if e.type.startswith("endpoint.")]
    assert [e.type for e in reported] == ["endpoint.warned", "endpoint.disabled"]

    n_before = len(desk.sink.requests)
    desk.sink.answer("/hook", Reply(204))
    with desk.begin() as session:
        since = enable(session, endpoint.id, ACTOR, desk.now)
        assert since is not None
        assert retry_failed(session, endpoint.id, ACTOR, desk.now) > 0
        replay_span(session, endpoint.id, since, desk.now, ACTOR, desk.now)
    while (done := desk.work()).delivered or done.retried:
        pass
    assert {row.state for row in desk.deliveries()} == {DeliveryState.DELIVERED}
    told = [hook.headers["webhook-id"] for hook in desk.sink.requests[n_before:]]
    events = [str(event.id) for event in desk.world.events()]
    assert sorted(told) == sorted(events)
    assert len(_mails(desk)) == 2


def test_what_is_gone_for_good_is_told_at_once(desk: Desk) -> None:
    with desk.begin() as session:
        operator(session, ADMIN, "admin")
    desk.endpoint(description="Website")
    desk.sink.answer("/hook", Reply(410))
    desk.happen()
    desk.work()
    (mail,) = _mails(desk)
    assert mail.subject == "Webhook endpoint “Website” was switched off"
    assert "410" in mail.body


def test_only_admins_who_see_the_congregation_are_told(
    make_session: sessionmaker[Session],
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
        assert admin_addresses(session, here) == [ADMIN, "bea@example.org"]


def test_the_names_by_which_the_engine_reads_operators_are_the_consoles() -> None:
    for known in (OPERATORS, ROLES, OPERATORS_ROLES, OPERATOR_CONGREGATIONS):
        table = Base.metadata.tables[known.name]
        for column in known.c:
            assert type(table.c[column.name].type) is type(column.type)


def test_a_mail_is_told_once_and_names_the_page(desk: Desk) -> None:
    post = FakePost()
    made = bench(
        desk.world.make_session,
        lambda: desk.now,
        post,
        console_url="https://carillon.example.org",
    )
    with desk.begin() as session:
        operator(session, ADMIN, "admin")
        assert mail_admins(session, desk.world.id, TELLING, desk.now) == 1
        assert mail_admins(session, desk.world.id, TELLING, desk.now) == 0
    with desk.world.make_session() as session:
        assert admin_mails.backlog(session, desk.now).n_due == 1
    (mail,) = _mails(desk)
    assert admin_mails.sweep(made, 20).sent == (mail.id,)
    assert admin_mails.sweep(made, 20) == admin_mails.AdminMailsSweep()
    ((envelope, message),) = post.sent
    assert (envelope.execution_id, message["to"]) == (mail.id, ADMIN)
    assert "https://carillon.example.org/webhooks/1" in message["text"]


def test_a_mail_that_is_not_taken_is_tried_again_and_then_given_up(desk: Desk) -> None:
    with desk.begin() as session:
        operator(session, ADMIN, "admin")
        mail_admins(session, desk.world.id, TELLING, desk.now)
    for answer, word in (
        (TryAgain("Not now."), "retried"),
        (GiveUp(Reason.REFUSED, "Nobody here."), "failed"),
    ):
        made = bench(desk.world.make_session, lambda: desk.now, FakePost(answer))
        (id_,) = getattr(admin_mails.sweep(made, 20), word)
        desk.later(hours=1)
    (mail,) = _mails(desk)
    assert (mail.id, mail.state, mail.error, mail.attempt) == (
        id_,
        AdminMailState.FAILED,
        "Nobody here.",
        2,
    )


def test_what_a_dead_worker_held_goes_out_and_its_late_word_counts_for_nothing(
    desk: Desk,
) -> None:
    with desk.begin() as session:
        operator(session, ADMIN, "admin")
        mail_admins(session, desk.world.id, TELLING, desk.now)
        session.flush()
    made = bench(desk.world.make_session, lambda: desk.now, FakePost())

    def hang(_: object) -> TryAgain:
        desk.later(minutes=4)  # another worker takes it meanwhile
        assert len(admin_mails.sweep(made, 20).sent) == 1
        return TryAgain("late")

    slow = bench(desk.world.make_session, lambda: desk.now, FakePost(hang))
    assert len(admin_mails.sweep(slow, 20).lost) == 1
    (mail,) = _mails(desk)
    assert (mail.state, mail.attempt) == (AdminMailState.SENT, 2)


def test_deliveries_of_a_failing_endpoint_need_no_admin(desk: Desk) -> None:
    desk.endpoint()
    desk.sink.answer("/hook", Reply(410))
    desk.happen()
    assert len(deliveries.sweep(desk.bench(), 10).failed) == 0
    assert len(desk.work().failed) == 1
    assert _mails(desk) == []
