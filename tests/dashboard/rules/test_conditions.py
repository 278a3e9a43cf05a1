"""Conditions and limits in the rule's form, on its page and in the list."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.clock import utcnow
from tasks.lanes import scheduled_jobs
from tasks.models import (
    AuditEntry,
    Decision,
    DecisionOutcome,
    RateSlot,
    Reason,
    Rule,
    new_id,
)
from tests.dashboard.rules.conftest import XSS, soup, words
from tests.support import factories
from tests.support.fakes import FakePost, bench

GUEST = {
    "conditions-0-field": "guest.email",
    "conditions-0-operator": "not_empty",
    "conditions-0-value": "",
}


def form(of: UUID, **values: Any) -> dict[str, Any]:
    """Return what the form of a new mail rule sends."""
    return {
        "rule_id": str(new_id()),
        "name": "Welcome",
        "scope": str(of),
        "trigger_type": "booking.confirmed",
        "action": "email",
        "recipient": "guest",
        "subject": "Hello",
        "text": "See you.",
        "max_attempts": "5",
    } | values


def rows(*conditions: tuple[str, str, str]) -> dict[str, str]:
    """Return the form's fields of conditions."""
    return {
        f"conditions-{place}-{name}": text
        for place, condition in enumerate(conditions)
        for name, text in zip(("field", "operator", "value"), condition, strict=True)
    }


def only_rule(sqlite_engine: Engine) -> Rule:
    with Session(sqlite_engine) as session:
        return session.scalars(select(Rule)).one()


def field(page: BeautifulSoup, name: str) -> Tag:
    found = page.select_one(f"[name='{name}']")
    assert isinstance(found, Tag), name
    return found


def test_conditions_are_saved_and_shown_again(
    as_operator: FlaskClient, house: UUID, sqlite_engine: Engine
) -> None:
    typed = rows(
        ("booking.status", "is", " confirmed "),
        ("", "is", ""),  # an empty row is no condition
        ("order.total", "more", "10"),
    )
    answer = as_operator.post(
        "/rules/", data=form(house, condition_match="any", **typed)
    )
    assert answer.status_code == 303
    rule = only_rule(sqlite_engine)
    assert rule.conditions == {
        "match": "any",
        "rows": [
            {"field": "booking.status", "operator": "is", "value": "confirmed"},
            {"field": "order.total", "operator": "more", "value": "10"},
        ],
    }
    told = "booking.status is “confirmed” or order.total is more than “10”"
    assert f"When a booking is confirmed, if {told}, e-mail the guest." in words(
        as_operator.get("/rules/")
    )
    assert f"Only if {told}" in words(as_operator.get(f"/rules/{rule.id}"))
    edited = soup(as_operator.get(f"/rules/{rule.id}/edit"))
    assert field(edited, "conditions-1-field")["value"] == "order.total"
    assert edited.select_one("[name=condition_match][value=any][checked]")
    assert "no value of ours" in edited.get_text()


def test_many_conditions_are_counted_in_the_list_and_told_on_the_page(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    row = {"field": "guest.name", "operator": "is_not", "value": "x" * 100}
    id_ = add(conditions={"match": "all", "rows": [row] * 20})
    assert "if 20 conditions hold" in words(as_operator.get("/rules/"))
    assert "x" * 100 in words(as_operator.get(f"/rules/{id_}"))


@pytest.mark.parametrize(
    ("condition", "part", "told"),
    [
        (("booking.statuss", "is", "x"), "field", "Did you mean booking.status?"),
        (("", "is", "x"), "field", "Choose a field"),
        (("guest.name", "less", "7"), "operator", "guest.name is text"),
        (("guest.name", "sings", "7"), "operator", "Choose how to compare"),
        (("booking.start_time", "before", "soon"), "value", "Write a date"),
        (("booking.status", "is", "canceled"), "value", "is never “canceled”"),
        (("guest.name", "is", "\x00"), "value", "do not print"),
        ((XSS, "is", XSS), "field", "A field is a name"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(
    as_operator: FlaskClient,
    house: UUID,
    condition: tuple[str, str, str],
    part: str,
    told: str,
) -> None:
    typed = rows(("", "is", ""), condition)
    answer = as_operator.post("/rules/", data=form(house, **typed))
    assert answer.status_code == 422
    shown = field(soup(answer), f"conditions-1-{part}")
    assert shown["aria-invalid"] == "true"
    help_ = soup(answer).find(id=shown["aria-describedby"])
    assert isinstance(help_, Tag)
    assert told in help_.get_text()
    assert "<script>alert" not in answer.get_data(as_text=True)


def test_more_than_twenty_conditions_are_refused(
    as_operator: FlaskClient, house: UUID
) -> None:
    typed = rows(*[("guest.name", "is", "x")] * 30)
    answer = as_operator.post("/rules/", data=form(house, **typed))
    assert answer.status_code == 422
    assert "at most 20 conditions" in words(answer)


def test_rows_are_added_and_removed_without_javascript(
    as_operator: FlaskClient, house: UUID
) -> None:
    typed = rows(("guest.name", "is", "Ada"), ("guest.email", "is", "x@y.example"))
    one_more = as_operator.post(
        "/rules/fields", data=form(house, arrange="condition-add", **typed)
    )
    assert len(soup(one_more).select(".condition")) == 3
    one_less = soup(
        as_operator.post(
            "/rules/fields", data=form(house, arrange="condition-remove-0", **typed)
        )
    )
    assert len(one_less.select(".condition")) == 1
    assert field(one_less, "conditions-0-value")["value"] == "x@y.example"


@pytest.mark.parametrize(
    "wish", ["condition-remove-9", "condition-remove-x", "condition"]
)
def test_a_wish_that_makes_no_sense_changes_nothing(
    as_operator: FlaskClient, house: UUID, wish: str
) -> None:
    answer = as_operator.post("/rules/fields", data=form(house, arrange=wish, **GUEST))
    assert answer.status_code == 200
    assert len(soup(answer).select(".condition")) == 1


def test_the_fields_and_comparisons_offered_follow_the_trigger_and_the_field(
    as_operator: FlaskClient, house: UUID
) -> None:
    typed = rows(("booking.start_time", "is", ""), ("guest.name", "is", ""))
    page = soup(as_operator.post("/rules/fields", data=form(house, **typed)))
    offered = {option["value"] for option in page.select("#condition-fields option")}
    assert {"booking.status", "event.type"} <= offered
    dates = field(page, "conditions-0-operator").select("option")
    assert [each["value"] for each in dates][:2] == ["before", "after"]
    texts = field(page, "conditions-1-operator").select("option")
    assert texts[0]["value"] == "is"
    guest = form(house, trigger_type="guest.responded", **typed)
    page = soup(as_operator.post("/rules/fields", data=guest))
    offered = {option["value"] for option in page.select("#condition-fields option")}
    assert "booking.status" not in offered


def test_limits_are_saved_shown_and_written_into_the_audit_log(
    as_operator: FlaskClient, house: UUID, sqlite_engine: Engine
) -> None:
    typed = form(
        house,
        retry_first_seconds="10",
        retry_longest_minutes="90",
        rate_limit="6",
        rate_window_minutes="30",
        **GUEST,
    )
    assert as_operator.post("/rules/", data=typed).status_code == 303
    rule = only_rule(sqlite_engine)
    assert (rule.retry_first_seconds, rule.rate_limit) == (10, 6)
    page = words(as_operator.get(f"/rules/{rule.id}"))
    assert "pauses of up to 10 s, then growing to 1 h 30 min" in page
    assert "6 times in 30 min; what is above waits" in page
    with Session(sqlite_engine) as session:
        about_rules = AuditEntry.subject_kind == "rule"
        entry = session.scalars(select(AuditEntry).where(about_rules)).one()
    assert entry.after
    assert entry.after["conditions"] == "guest.email is not empty"
    assert entry.after["rate_limit"] == 6
    edited = soup(as_operator.get(f"/rules/{rule.id}/edit"))
    assert field(edited, "rate_limit")["value"] == "6"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("rate_limit", "many", "Enter a whole number."),
        ("rate_limit", "0", "leave it empty"),
        ("rate_limit", "9" * 30, "leave it empty"),
        ("retry_first_seconds", "", "whole number"),
        ("retry_first_seconds", "-1", "1 to 3600 seconds"),
        ("retry_longest_minutes", "1e3", "Enter a whole number."),
    ],
)
def test_a_wrong_limit_is_told_at_its_field(
    as_operator: FlaskClient, house: UUID, name: str, value: str, told: str
) -> None:
    answer = as_operator.post("/rules/", data=form(house, **{name: value}))
    assert answer.status_code == 422
    error = soup(answer).find(id=f"{name}-help")
    assert isinstance(error, Tag)
    assert told in error.get_text()


def test_the_page_tells_what_waits_for_its_turn(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add(rate_limit=1)
    with Session(sqlite_engine) as session, session.begin():
        rule = session.get_one(Rule, id_)
        for number in range(2):
            row = factories.execution(session, rule)
            session.add(
                RateSlot(
                    congregation_id=rule.congregation_id,
                    execution_id=row.id,
                    number=1,
                    rule_id=id_,
                    at=utcnow() + timedelta(minutes=9 + 60 * number, seconds=30),
                )
            )
    assert "Waiting 2 executions, the next in 9 min" in words(
        as_operator.get(f"/rules/{id_}")
    )


@pytest.mark.parametrize(("hours", "is_told"), [(2, True), (30, False)])
def test_the_page_tells_that_a_loop_was_stopped(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    house: UUID,
    sqlite_engine: Engine,
    hours: int,
    is_told: bool,
) -> None:
    id_ = add()
    with Session(sqlite_engine) as session, session.begin():
        session.add(
            Decision(
                congregation_id=house,
                rule_id=id_,
                rule_version=1,
                outcome=DecisionOutcome.NO,
                reason=Reason.LOOP_GUARD,
                detail="It had acted on the same 30 times within an hour.",
                created_at=utcnow() - timedelta(hours=hours),
            )
        )
    page = as_operator.get(f"/rules/{id_}")
    assert bool(soup(page).find(id="loop-notice")) is is_told
    assert "30 times within an hour" in words(page)


def test_a_job_tells_which_condition_did_not_hold(
    as_operator: FlaskClient, house: UUID, sqlite_engine: Engine
) -> None:
    row = {"field": "guest.email", "operator": "empty"}
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, house, conditions={"rows": [row]})
        id_ = factories.job(session, rule).id
    work = bench(sessionmaker(sqlite_engine), lambda: factories.NOW, FakePost())
    assert scheduled_jobs.sweep(work, 10).skipped == (id_,)
    page = words(as_operator.get(f"/scheduled/{id_}"))
    assert "Wanted: guest.email is empty. Seen: “joerg@example.org”." in page


def test_the_audit_log_keeps_conditions_in_english_whoever_saves_them(
    as_operator: FlaskClient, house: UUID, sqlite_engine: Engine
) -> None:
    french = {"Accept-Language": "fr"}
    as_operator.post("/rules/", data=form(house, **GUEST), headers=french)
    rule = only_rule(sqlite_engine)
    page = words(as_operator.get(f"/rules/{rule.id}", headers=french))
    with Session(sqlite_engine) as session:
        entry = session.scalars(select(AuditEntry).filter_by(action="rule.created"))
        after = entry.one().after or {}

    assert "si guest.email n’est pas vide, envoyer un e-mail à l’invité." in page
    assert after["conditions"] == "guest.email is not empty"
