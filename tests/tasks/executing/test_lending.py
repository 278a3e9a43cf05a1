"""A guest's access token on its way: to the guest's own address, and into no row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation import AutomationEvent, emit_automation_event
from tasks.automation.actions.base import Envelope
from tasks.automation.guest_tokens import STAND_IN
from tasks.lanes.executions import sweep
from tasks.models import (
    EpisodeGuest,
    EventData,
    Execution,
    ExecutionContext,
    ExecutionMessage,
    ExecutionState,
    Reason,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.editing import Edited, send_edited
from tests.support import factories
from tests.support.factories import EMAIL_SETTINGS, NOW
from tests.support.fakes import FakePost, bench
from tests.support.statements import statements

Sessions = sessionmaker[Session]
ADA = "ada@example.org"
TOKEN = "s3cret/token"
LINK = "https://example.org/g/{{ guest.access_token }}"


class House:
    """A congregation with a guest who has a token, and a mail server that keeps all."""

    def __init__(self, make_session: Sessions, **guest: Any) -> None:
        self.make_session = make_session
        self.post = FakePost()
        with make_session.begin() as session:
            self.id = factories.congregation(session)
            values = {"name": "Ada", "email": ADA, "access_token": TOKEN, **guest}
            session.add(
                EpisodeGuest(
                    congregation_id=self.id, id="g1", podcast_id="show", **values
                )
            )

    def rule(self, **settings: Any) -> None:
        with self.make_session.begin() as session:
            factories.rule(
                session,
                self.id,
                trigger_type="guest.responded",
                settings={**EMAIL_SETTINGS, "subject": "Hi", **settings},
            )

    def respond(self, **values: Any) -> None:
        event = AutomationEvent(
            "guest.responded",
            "show",
            guest_id="g1",
            congregation_id=self.id,
            **values,
        )
        with self.make_session.begin() as session:
            assert emit_automation_event(session, event, now=NOW).success

    def sweep(self) -> list[tuple[Envelope, Mapping[str, Any]]]:
        before = len(self.post.sent)
        sweep(bench(self.make_session, lambda: NOW, self.post), 50)
        return self.post.sent[before:]

    def texts(self) -> list[str]:
        return [message["text"] for _, message in self.sweep()]

    def ends(self) -> list[tuple[ExecutionState, Reason | None]]:
        with self.make_session() as session:
            rows = session.scalars(select(Execution).order_by(Execution.id))
            return [(row.state, row.reason) for row in rows]

    def kept(self) -> str:
        """Return everything that rows keep of what was told, composed and sent."""
        with self.make_session() as session:
            return repr(
                [
                    session.scalars(select(ExecutionMessage.message)).all(),
                    session.scalars(select(ExecutionContext.context)).all(),
                    session.scalars(select(EventData.data)).all(),
                ]
            )


@pytest.fixture
def house(make_session: Sessions) -> House:
    return House(make_session)


def test_a_mail_to_the_guest_has_the_token_and_nothing_that_is_kept(
    house: House,
) -> None:
    house.rule(text=LINK, html=f'<a href="{LINK}">Your page</a>')
    house.respond()
    [(_, mail)] = house.sweep()
    address = "https://example.org/g/s3cret%2Ftoken"
    assert mail["text"] == address
    assert f'href="{address}"' in mail["html"]
    assert STAND_IN in house.kept()
    assert "s3cret" not in house.kept()


def test_what_does_not_ask_gets_none_though_it_has_the_same_words(house: House) -> None:
    house.rule(text=f"Not {STAND_IN}")
    house.respond()
    assert house.texts() == [f"Not {STAND_IN}"]


def test_a_producer_cannot_lead_it_elsewhere(house: House) -> None:
    house.rule(text=LINK)
    house.respond(context={"guest": {"email": "eve@example.org"}}, event_id="1")
    assert house.sweep() == []
    assert house.ends() == [(ExecutionState.FAILED, Reason.MISSING_VARIABLE)]


@pytest.mark.parametrize("guest", [{"access_token": None}, {"email": None}])
def test_who_has_none_gets_what_stands_in_for_it_or_no_mail(
    make_session: Sessions, guest: dict[str, Any]
) -> None:
    house = House(make_session, **guest)
    house.rule(text=LINK)
    house.rule(text="{{ guest.access_token | default: 'Ask us.' }}")
    told = {} if "access_token" in guest else {"context": {"guest": {"email": ADA}}}
    house.respond(**told)
    assert house.texts() == ["Ask us."]
    assert (ExecutionState.FAILED, Reason.MISSING_VARIABLE) in house.ends()


def _edited(house: House, to: str) -> UUID:
    with house.make_session.begin() as session:
        [row] = session.scalars(select(Execution))
        new = Edited(to, "Hi", f"Once more: https://example.org/{STAND_IN}")
        return send_edited(
            session,
            row.id,
            new,
            Actor("anna@example.org"),
            operation_id=new_id(),
            why="Wrong link",
            now=NOW,
        )


def test_an_edited_mail_has_it_only_for_the_guest(house: House) -> None:
    house.rule(text=LINK)
    house.respond()
    house.sweep()
    made = _edited(house, ADA)
    [(envelope, mail)] = house.sweep()
    assert envelope.execution_id == made
    assert mail["text"] == "Once more: https://example.org/s3cret%2Ftoken"
    assert "s3cret" not in house.kept()


def test_an_edited_mail_to_somebody_else_is_refused(house: House) -> None:
    house.rule(text=LINK)
    house.respond()
    house.sweep()
    made = _edited(house, "eve@example.org")
    assert house.sweep() == []
    with house.make_session() as session:
        row = session.get_one(Execution, made)
    assert row.reason is Reason.MISSING_VARIABLE


def test_many_mails_cost_no_more_questions_than_a_few(house: House) -> None:
    house.rule(text=LINK)
    counts = []
    for size in (2, 20):
        for number in range(size):
            house.respond(event_id=f"{size}-{number}")
        with statements() as seen:
            assert len(house.texts()) == size
        counts.append(sum("access_token" in each.split("FROM")[0] for each in seen))
    # Twenty are claimed in two goes, and looked at once each.
    assert 0 < counts[1] <= 2 * counts[0]
