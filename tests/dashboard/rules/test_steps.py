"""The later steps in a rule's form: added, moved, removed, without any script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from dashboard.rules.fields.deed import ACTION_GROUPS
from dashboard.rules.sentences import deed
from tasks.automation.actions import ACTIONS
from tasks.models import Rule, new_id
from tests.dashboard.rules.conftest import HTMX, soup
from tests.support import factories

TARGET = "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"


@pytest.fixture
def rule(sqlite_engine: Engine) -> Callable[[], Rule]:
    """Return a function that reads the only rule."""

    def read() -> Rule:
        with Session(sqlite_engine) as session:
            return session.scalars(select(Rule)).one()

    return read


def form(of: UUID, *steps: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Return what the form of a mail rule with later steps sends."""
    sent: dict[str, Any] = {
        "rule_id": str(new_id()),
        "name": "Welcome",
        "scope": str(of),
        "trigger_type": "booking.confirmed",
        "action": "email",
        "recipient": "guest",
        "subject": "Hello {{ guest.name }}",
        "text": "See you.",
        "max_attempts": "5",
        "retry_first_seconds": "30",
        "retry_longest_minutes": "360",
        "rate_window_minutes": "60",
        "enabled": "y",
    }
    for place, step in enumerate(steps):
        sent |= {f"steps-{place}-{name}": text for name, text in step.items()}
    return sent | values


def mail(**values: Any) -> dict[str, Any]:
    return {
        "number": "",
        "delay_value": "2",
        "delay_unit": "days",
        "action": "email",
        "recipient": "guest",
        "subject": "Again",
        "text": "Hello again.",
        "max_attempts": "5",
    } | values


def chat(**values: Any) -> dict[str, Any]:
    said = {"action": "notify", "target": TARGET, "title": "", "words": "Soon."}
    return mail(**said) | values


def shown(answer: TestResponse) -> list[tuple[str, str]]:
    """Return action and subject of each step that the form shows."""
    page = soup(answer)
    found = []
    for place in range(len(page.select("fieldset.step"))):
        chosen = page.select_one(f'[name="steps-{place}-action"] option[selected]')
        subject = page.select_one(f'[name="steps-{place}-subject"]')
        assert chosen
        assert subject
        found.append((str(chosen["value"]), str(subject["value"])))
    return found


def arrange(
    client: FlaskClient, of: UUID, wish: str, *steps: dict[str, Any]
) -> list[tuple[str, str]]:
    answer = client.post("/rules/fields", data=form(of, *steps, arrange=wish))
    assert answer.status_code == 200
    return shown(answer)


def test_a_new_rule_has_no_later_steps_and_a_button_for_them(
    as_operator: FlaskClient, house: UUID
) -> None:
    page = soup(as_operator.get("/rules/new"))

    assert page.select("fieldset.step") == []
    assert "Add a step" in page.get_text()


def test_steps_are_added_moved_and_removed_without_a_script(
    as_operator: FlaskClient, house: UUID
) -> None:
    one, two = mail(subject="One"), mail(subject="Two")
    fresh = ("email", "")
    a, b = ("email", "One"), ("email", "Two")

    assert arrange(as_operator, house, "add") == [fresh]
    assert arrange(as_operator, house, "add", one, two) == [a, b, fresh]
    assert arrange(as_operator, house, "remove-0", one, two) == [b]
    assert arrange(as_operator, house, "up-1", one, two) == [b, a]
    assert arrange(as_operator, house, "down-0", one, two) == [b, a]


@pytest.mark.parametrize(
    "wish",
    ["", "up-0", "down-1", "remove-7", "remove--1", "remove-x", "-", "ä"],
)
def test_a_wish_that_makes_no_sense_changes_nothing(
    as_operator: FlaskClient, house: UUID, wish: str
) -> None:
    one, two = mail(subject="One"), mail(subject="Two")
    kept = [("email", "One"), ("email", "Two")]

    assert arrange(as_operator, house, wish, one, two)[:2] == kept


def test_there_is_room_for_ten_steps(as_operator: FlaskClient, house: UUID) -> None:
    many = [mail(subject=str(n)) for n in range(12)]

    assert len(arrange(as_operator, house, "add", *many)) == 10


def test_each_step_has_the_fields_of_its_own_action(
    as_operator: FlaskClient, house: UUID
) -> None:
    page = soup(
        as_operator.post(
            "/rules/fields", data=form(house, chat(), mail()), headers=HTMX
        )
    )

    assert page.select_one('textarea[name="steps-0-words"]')
    assert page.select_one('input[type="hidden"][name="steps-0-subject"]')
    assert page.select_one('textarea[name="steps-1-text"]')
    assert page.select_one("h1") is None  # a part of the page, for htmx


def test_every_field_of_a_step_has_a_label_of_its_own(
    as_operator: FlaskClient, house: UUID
) -> None:
    page = soup(as_operator.post("/rules/fields", data=form(house, chat(), mail())))
    ids = [str(each["id"]) for each in page.select("#steps [id]")]

    assert len(ids) == len(set(ids))
    for field in page.select("#steps :is(input, select, textarea)"):
        if field.get("type") not in {"hidden", "radio"}:
            assert page.select_one(f'label[for="{field["id"]}"]'), field


def test_a_rule_is_saved_with_its_steps(
    as_operator: FlaskClient, house: UUID, rule: Callable[[], Rule]
) -> None:
    answer = as_operator.post(
        "/rules/", data=form(house, mail(), chat(delay_value="0"))
    )

    assert answer.status_code == 303, answer.get_data(as_text=True)
    saved = rule()
    assert [step["delay"] for step in saved.steps] == [2880, 0]
    assert saved.steps[1]["settings"]["target"] == "discord://••••V_js"
    page = soup(as_operator.get(f"/rules/{saved.id}")).get_text(" ")
    assert "2 days later" in page
    assert "notify Discord" in page
    assert "JHMHI8" not in page


def test_the_form_keeps_numbers_delays_and_hidden_addresses(
    as_operator: FlaskClient, house: UUID, rule: Callable[[], Rule]
) -> None:
    as_operator.post("/rules/", data=form(house, mail(), chat(delay_unit="hours")))
    saved = rule()
    page = soup(as_operator.get(f"/rules/{saved.id}/edit"))
    sent = {
        str(field["name"]): str(field.get("value") or field.get_text())
        for field in page.select("#rule-form :is(input, textarea)[name]")
        if field.get("type") not in {"radio", "checkbox"}
    }
    for select_ in page.select("#rule-form select[name]"):
        chosen = select_.select_one("option[selected]") or select_.select_one("option")
        sent[str(select_["name"])] = str(chosen["value"]) if chosen else ""
    sent |= {name: "guest" for name in sent if name.endswith("recipient")}
    sent |= {"recipient": "guest", "steps-0-recipient": "guest", "late_policy": "skip"}

    answer = as_operator.post(f"/rules/{saved.id}", data=sent)

    assert answer.status_code == 303, soup(answer).select(".field-error")
    assert rule().version == 1, (rule().steps, saved.steps)
    assert "JHMHI8" not in page.get_text() + str(page)


@pytest.mark.parametrize(
    ("step", "field", "why"),
    [
        (mail(delay_value=""), "delay_value", "whole number"),
        (mail(delay_value="-1"), "delay_value", "0 minutes to 365 days"),
        (mail(delay_value="9" * 30), "delay_value", "0 minutes to 365 days"),
        (mail(delay_value="soon"), "delay_value", "whole number"),
        (mail(max_attempts="0"), "max_attempts", "1 to 20"),
        (mail(subject=""), "subject", "empty"),
        (mail(text="{{ nobody.name }}"), "text", "nobody.name"),
        (chat(target="file:///etc/passwd"), "target", "Use an address"),
        (chat(target="discord://••••V_js"), "target", "give it again"),
        (mail(action="webhook", url="http://10.0.0.1/"), "url", "Only https"),
        (mail(action="start_lane", lane="executions"), "lane", "Janitor"),
    ],
)
def test_what_is_wrong_is_said_at_the_steps_field(
    as_operator: FlaskClient,
    house: UUID,
    step: dict[str, Any],
    field: str,
    why: str,
) -> None:
    answer = as_operator.post("/rules/", data=form(house, step))

    assert answer.status_code == 422
    page = soup(answer)
    marked = page.select_one(f'[name="steps-0-{field}"]')
    assert marked, page
    assert marked.get("aria-invalid") == "true"
    errors = " ".join(each.get_text() for each in page.select("#steps .field-error"))
    assert why in errors


@pytest.mark.parametrize(
    "step",
    [
        mail(action="fax"),
        mail(delay_unit="years"),
        mail(number="x" * 100),
        {"number": "1"},
        {"": ""},
    ],
)
def test_a_forged_step_is_never_an_error_of_ours(
    as_operator: FlaskClient, house: UUID, step: dict[str, Any]
) -> None:
    answer = as_operator.post("/rules/", data=form(house, step))

    assert answer.status_code in {303, 422}


def test_a_preview_of_a_notification_shows_its_words(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = form(
        house, action="notify", target=TARGET, title="New", words="{{ guest.name }}"
    )
    page = soup(
        as_operator.post("/rules/preview", data=data | {"sample": "b1"}, headers=HTMX)
    )

    assert "Jörg" in page.get_text()
    assert "discord://••••V_js" in page.get_text()


def test_an_execution_says_which_step_it_is(
    as_viewer: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    step = {"number": 3, "delay": 5, "action": "email", "max_attempts": 5}
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(
            session, house, steps=[step | {"settings": factories.EMAIL_SETTINGS}]
        )
        known = factories.execution(session, rule, step=3).id
        gone = factories.execution(session, rule, step=2).id

    assert "step 2 of 2" in soup(as_viewer.get(f"/executions/{known}")).get_text(" ")
    page = soup(as_viewer.get("/executions/")).get_text(" ")
    assert "step 2 of 2" in page
    assert "a step that was taken out" in page
    assert as_viewer.get(f"/executions/{gone}").status_code == 200


def test_a_sweep_that_a_rule_asked_for_leads_to_its_execution(
    as_viewer: FlaskClient, sqlite_engine: Engine
) -> None:
    from tasks.automation.actions.base import Envelope
    from tasks.db import sessions
    from tasks.operations.lane_starts import LaneStarter

    starter = LaneStarter(lambda: factories.NOW)
    with sessions(sqlite_engine).begin() as session:
        starter.start(session, "janitor", Envelope(UUID(int=7), UUID(int=1), None))

    page = soup(as_viewer.get("/lanes/janitor"))

    assert page.select_one(f'a[href="/executions/{UUID(int=7)}"]')


@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_has_its_fields_its_partials_and_its_sentence(name: str) -> None:
    templates = Path(__file__).parents[3] / "templates" / "rules"

    assert name in ACTION_GROUPS
    assert (templates / f"_fields_{name}.html").exists()
    assert (templates / f"_does_{name}.html").exists()
    assert deed(name, {}) != name
