"""The form of a rule: it adapts, keeps what was typed, and marks what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient

from dashboard.rules.drafts import draft
from tasks.models import AuditEntry, Rule
from tests.dashboard.rules.conftest import HTMX, XSS, hook, mail, soup, words
from tests.support import factories


def test_a_rule_is_created_through_the_form(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    answer = as_operator.post("/rules/", data=mail(house, scope=f"{house}/show"))

    (rule,) = read(Rule)
    assert answer.status_code == 303
    assert answer.location == f"/rules/{rule.id}"
    assert (rule.name, rule.podcast_ids, rule.enabled) == ("Welcome", ["show"], True)
    assert rule.settings == {
        "recipient": "guest",
        "subject": "Hello {{ guest.name }}",
        "text": "See you.\nBye.",
        "html": "",
    }
    page = words(as_operator.get(answer.location))
    assert "When a booking is confirmed, e-mail the guest." in page
    assert "“Welcome” is created." in page
    assert "rule.created" in {entry.action for entry in read(AuditEntry)}


def test_a_form_that_is_sent_twice_makes_one_rule(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    data = mail(house)
    first = as_operator.post("/rules/", data=data)
    second = as_operator.post("/rules/", data=data)

    assert first.location == second.location
    assert len(read(Rule)) == 1


def test_a_webhook_rule_shows_its_secret_once(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    answer = as_operator.post("/rules/", data=hook(house))

    secret = soup(answer).select_one("#secret")
    assert secret is not None
    assert secret.text.startswith("whsec_")
    (rule,) = read(Rule)
    assert rule.settings == {"url": "https://example.org/hook"}
    page = as_operator.get(f"/rules/{rule.id}").get_data(as_text=True)
    assert secret.text not in page
    assert "call example.org" in page


@pytest.mark.parametrize(
    ("field", "values", "part"),
    [
        ("name", {"name": " "}, "Give the rule a name"),
        ("name", {"name": "x" * 121}, "at most 120"),
        ("name", {"name": "a\0b"}, "do not print"),
        ("scope", {"scope": "nowhere"}, "Choose what the rule applies to"),
        ("scope", {"scope": ""}, "Choose what the rule applies to"),
        ("trigger_type", {"trigger_type": "booking.exploded"}, "Choose what starts"),
        ("action", {"action": "fax"}, "Not a valid choice"),
        ("subject", {"subject": ""}, "empty"),
        ("subject", {"subject": "{{ guest.nmae }}"}, "did you mean guest.name"),
        ("text", {"text": "{% include 'x' %}"}, "no tag"),
        ("text", {"text": "a\x07b"}, "do not print"),
        ("html", {"html": "{{ oops"}, "missing"),
        ("address", {"recipient": "fixed", "address": "a@b@c"}, ""),
        ("address", {"recipient": "fixed"}, "Give the address"),
        ("recipient", {"recipient": "everybody"}, "Choose one of"),
        ("max_attempts", {"max_attempts": "0"}, "1 to 20"),
        ("max_attempts", {"max_attempts": "many"}, "whole number"),
        ("max_attempts", {"max_attempts": ""}, "whole number"),
    ],
)
def test_a_bad_input_is_marked_at_its_field(
    as_operator: FlaskClient,
    house: UUID,
    read: Callable[..., list[Any]],
    field: str,
    values: dict[str, str],
    part: str,
) -> None:
    answer = as_operator.post("/rules/", data=mail(house, **values))

    assert answer.status_code == 422
    marked = soup(answer).select_one(f"#{field}-help.field-error")
    assert marked is not None
    assert part in marked.text
    assert read(Rule) == []


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("-1", "already says “before”"),
        ("87649", "ten years"),
        ("soon", "number"),
        ("", "number"),
    ],
)
def test_a_bad_offset_is_said_below_it(
    as_operator: FlaskClient, house: UUID, value: str, part: str
) -> None:
    data = mail(house, trigger_type="time.before_recording", offset_value=value)
    answer = as_operator.post("/rules/", data=data)

    marked = soup(answer).select_one("#offset-error")
    assert answer.status_code == 422
    assert marked is not None
    assert part in marked.text


@pytest.mark.parametrize("url", ["", "ftp://example.org", "http://127.0.0.1/", "x"])
def test_a_bad_webhook_address_is_refused(
    as_operator: FlaskClient, house: UUID, url: str
) -> None:
    answer = as_operator.post("/rules/", data=hook(house, url=url))

    assert answer.status_code == 422
    assert soup(answer).select_one("#url-help.field-error") is not None


def test_what_was_typed_is_still_there_after_an_error(
    as_operator: FlaskClient, house: UUID
) -> None:
    answer = as_operator.post("/rules/", data=mail(house, name="", text=f"Mine {XSS}"))

    page = soup(answer)
    text = page.select_one("#text")
    assert text is not None
    assert f"Mine {XSS}" in text.text
    assert XSS not in answer.get_data(as_text=True)


def test_another_trigger_brings_other_fields_and_other_words(
    as_operator: FlaskClient, house: UUID
) -> None:
    words_ = draft("booking.confirmed", "en")
    assert words_ is not None
    data = mail(
        house,
        subject=words_.subject,
        text=words_.text.replace("\n", "\r\n"),
        trigger_type="time.before_recording",
    )
    answer = as_operator.post("/rules/fields", data=data, headers=HTMX)

    page = soup(answer)
    assert page.select_one("#offset_value") is not None
    assert page.select_one("#late_policy-0") is not None
    assert page.select_one("#also_coming") is not None
    text = page.select_one("#text")
    assert text is not None
    assert "A reminder" in text.text
    assert page.select_one("html") is None
    assert "Plan it also for the 1 booking in the calendar" in words(answer)


def test_words_that_somebody_wrote_are_kept(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = mail(house, text="My own words.", trigger_type="episode.published")
    page = soup(as_operator.post("/rules/fields", data=data, headers=HTMX))

    text = page.select_one("#text")
    assert text is not None
    assert "My own words." in text.text


def test_a_mails_words_survive_a_look_at_the_webhook(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = hook(house, text="My own words.")
    page = soup(as_operator.post("/rules/fields", data=data, headers=HTMX))

    kept = page.select_one("input[type=hidden][name=text]")
    assert kept is not None
    assert kept["value"] == "My own words."
    assert page.select_one("#url") is not None
    assert page.select_one("#subject.form-control") is None


def test_without_javascript_the_whole_page_comes_back(
    as_operator: FlaskClient, house: UUID, add: Callable[..., UUID]
) -> None:
    data = mail(house, trigger_type="time.after_recording")
    for path in ("/rules/fields", "/rules/preview"):
        page = soup(as_operator.post(path, data=data))
        assert page.select_one("html #rule-form #offset_value") is not None

    rule = add()
    page = soup(as_operator.post(f"/rules/preview?rule={rule}", data=mail(house)))
    form = page.select_one("#rule-form")
    assert form is not None
    assert form["action"] == f"/rules/{rule}"


def test_a_rule_is_duplicated_under_its_own_name(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    rule_id = add(factories.reminder, podcast_id="show")
    page = soup(as_operator.get(f"/rules/new?copy={rule_id}"))

    name, offset = page.select_one("#name"), page.select_one("#offset_value")
    chosen = page.select_one("#scope option[selected]")
    assert name is not None
    assert offset is not None
    assert chosen is not None
    assert name["value"] == "24 h reminder (copy)"
    assert offset["value"] == "24"
    assert str(chosen["value"]).endswith("/show")
