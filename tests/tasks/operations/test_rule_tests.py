"""A test of a rule is marked, goes to oneself alone, is counted and written down."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from tasks.db import Begin, CongregationSession, set_scope
from tasks.errors import Conflict, InvalidInput
from tasks.models import AuditEntry, Rule
from tasks.operations.audit import Actor
from tasks.operations.rule_tests import (
    TESTS_MAX,
    TESTS_WITHIN,
    as_test,
    ask_test,
    n_tests,
)
from tests.support import factories

ANNA = Actor("anna@example.org", "10.0.0.1")
MAIL = {
    "to": "guest@example.org",
    "subject": "See you",
    "text": "Hello",
    "html": "<p>Hello</p>",
    "optional": True,
    "calendar": {"uid": "b1"},
    "look": {"sender": "St. Mary"},
}


def rule() -> Rule:
    return Rule(name="<b>Welcome</b>", action="email")


def test_a_mail_goes_to_the_operator_and_says_that_it_is_a_test() -> None:
    made = as_test("email", MAIL, rule(), "anna@example.org")
    assert made["to"] == "anna@example.org"
    assert made["subject"] == "[TEST] See you"
    assert made["text"].startswith("[TEST] This is a test of the rule “<b>Welcome</b>”")
    assert made["text"].endswith("Hello")
    assert "&lt;b&gt;Welcome&lt;/b&gt;" in made["html"]
    assert made["html"].endswith("<p>Hello</p>")
    assert "guest@example.org" not in str(made)


def test_a_test_acts_for_nobody_else() -> None:
    made = as_test("email", MAIL, rule(), "anna@example.org")
    assert "calendar" not in made
    assert made["optional"] is False
    assert made["look"] == MAIL["look"]


def test_the_mark_stands_within_a_whole_document() -> None:
    html = '<html><body class="x"><p>Hello</p></body></html>'
    made = as_test("email", {**MAIL, "html": html}, rule(), "anna@example.org")
    assert made["html"].startswith('<html><body class="x"><p><strong>[TEST]</strong>')
    plain = as_test("email", {**MAIL, "html": ""}, rule(), "anna@example.org")
    assert plain["html"] == ""


def test_a_long_subject_keeps_its_mark_and_its_limit() -> None:
    made = as_test("email", {**MAIL, "subject": "x" * 255}, rule(), "a@b.org")
    assert len(made["subject"]) == 255
    assert made["subject"].startswith("[TEST] xxx")


def test_a_webhook_carries_the_mark_in_its_type() -> None:
    message = {
        "url": "https://x.org",
        "body": {"type": "booking.confirmed", "data": {}},
    }
    made = as_test("webhook", message, rule(), "anna@example.org")
    assert made["body"] == {"type": "test.booking.confirmed", "data": {}, "test": True}
    assert message["body"] == {"type": "booking.confirmed", "data": {}}


def test_a_notification_is_marked_too() -> None:
    message = {"to": "discord://…", "subject": "", "text": "Hello"}
    made = as_test("notify", message, rule(), "anna@example.org")
    assert made["to"] == "discord://…"
    assert made["subject"] == "[TEST]"
    assert made["text"].startswith("[TEST]")


@pytest.fixture
def of(begin: Begin) -> UUID:
    with begin() as session:
        id_ = factories.congregation(session)
        factories.rule(session, id_)
        return id_


def test_tests_are_counted_for_each_operator_and_written_down(
    begin: Begin, of: UUID, now: datetime
) -> None:
    with begin() as session:
        made = session.scalars(select(Rule)).one()
        for _ in range(TESTS_MAX):
            ask_test(session, made, "email", "Zoë", ANNA, now)
            session.flush()
        with pytest.raises(Conflict, match="wait a while"):
            ask_test(session, made, "email", "Zoë", ANNA, now)
        ask_test(session, made, "email", "Zoë", Actor("ben@example.org"), now)
        session.flush()
        entries = session.scalars(select(AuditEntry)).all()
        assert len(entries) == TESTS_MAX + 1
        assert entries[0].summary == (
            "Sent a test of “Welcome”, made from Zoë, to your own address."
        )
        assert entries[0].subject_id == str(made.id)
        written = entries[0].created_at
        assert n_tests(session, ANNA, written + TESTS_WITHIN * 2) == 0


def test_another_congregation_in_view_counts_the_same_tests(
    engine: Engine, begin: Begin, of: UUID, now: datetime
) -> None:
    with begin() as session:
        made = session.scalars(select(Rule)).one()
        ask_test(session, made, "email", "Zoë", ANNA, now)
        other = factories.congregation(session, "other")
    with CongregationSession(engine) as scoped:
        set_scope(scoped, frozenset({other}))
        assert n_tests(scoped, ANNA, now - timedelta(hours=1)) == 1


def test_what_reaches_nobody_cannot_be_tested(
    begin: Begin, of: UUID, now: datetime
) -> None:
    with begin() as session:
        made = session.scalars(select(Rule)).one()
        with pytest.raises(InvalidInput, match="nobody to go to"):
            ask_test(session, made, "start_lane", "Zoë", ANNA, now)
