"""The rules' pages: a list to scan, a form that adapts, a preview that tells all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from dashboard.rules.drafts import draft
from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS
from tasks.clock import utcnow
from tasks.models import (
    AuditEntry,
    Decision,
    DecisionOutcome,
    Episode,
    EpisodeGuest,
    Execution,
    ExecutionState,
    JobState,
    Rule,
    ScheduledJob,
    new_id,
)
from tests.support import factories
from tests.support.statements import statements

XSS = "<script>alert(1)</script>"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def house(sqlite_engine: Engine) -> UUID:
    """Return the id of a congregation with a podcast and a booking in two days."""
    with Session(sqlite_engine) as session, session.begin():
        id_ = factories.congregation(session)
        start = utcnow() + timedelta(days=2)
        factories.booking(session, id_, start_time=start, confirmed_at=utcnow())
        return id_


@pytest.fixture
def read(sqlite_engine: Engine) -> Callable[..., list[Any]]:
    """Return a function that reads every row of a table."""

    def rows(model: type[Any]) -> list[Any]:
        with Session(sqlite_engine) as session:
            return list(session.scalars(select(model)))

    return rows


@pytest.fixture
def add(sqlite_engine: Engine, house: UUID) -> Callable[..., UUID]:
    """Return a function that adds a rule with ``make`` and returns its id."""

    def made(make: Callable[..., Rule] = factories.rule, **values: Any) -> UUID:
        with Session(sqlite_engine) as session, session.begin():
            return make(session, values.pop("of", house), **values).id

    return made


def mail(of: UUID, **values: Any) -> dict[str, Any]:
    """Return what the form of a new mail rule sends."""
    return {
        "rule_id": str(new_id()),
        "name": "Welcome",
        "scope": str(of),
        "trigger_type": "booking.confirmed",
        "offset_value": "24",
        "offset_unit": "hours",
        "late_policy": "skip",
        "action": "email",
        "recipient": "guest",
        "address": "",
        "subject": "Hello {{ guest.name }}",
        "text": "See you.\r\nBye.",
        "html": "",
        "max_attempts": "5",
        "enabled": "y",
        "sample": "b1",
    } | values


def hook(of: UUID, **values: Any) -> dict[str, Any]:
    """Return what the form of a new webhook rule sends."""
    return mail(of, action="webhook", url="https://example.org/hook") | values


def soup(answer: TestResponse) -> BeautifulSoup:
    return BeautifulSoup(answer.get_data(as_text=True), "html.parser")


def words(answer: TestResponse) -> str:
    return " ".join(soup(answer).get_text(" ").split())


def test_an_empty_list_says_how_to_begin(
    as_operator: FlaskClient, as_viewer: FlaskClient, house: UUID
) -> None:
    assert "Write the first rule" in words(as_operator.get("/rules/"))
    assert "Write the first rule" not in words(as_viewer.get("/rules/"))


def test_without_a_congregation_there_is_nowhere_to_begin(
    as_operator: FlaskClient,
) -> None:
    assert "make one first" in words(as_operator.get("/rules/"))
    assert "make one first" in words(as_operator.get("/rules/new"))


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


def test_a_new_form_brings_first_words_in_the_congregations_language(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        factories.congregation(session, "paroisse", locale="fr")
    page = soup(as_operator.get("/rules/new"))

    subject, text = page.select_one("#subject"), page.select_one("#text")
    assert subject is not None
    assert text is not None
    assert "confirmé" in str(subject["value"])
    assert text.text.strip().startswith("Bonjour")


@pytest.mark.parametrize("locale", ["en", "fr"])
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_first_words_can_be_saved_as_they_are(trigger: str, locale: str) -> None:
    words_ = draft(trigger, locale)

    assert words_ is not None
    settings = {
        "recipient": words_.recipient,
        "address": "office@example.org" if words_.recipient == "fixed" else "",
        "subject": words_.subject,
        "text": words_.text,
        "html": "",
    }
    assert ACTIONS["email"].check(settings, trigger) == {}


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


def test_the_preview_is_what_a_real_booking_would_get(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = mail(house, text='On {{ booking.start_time | date: "%Y" }}, <b>')
    fragment = as_operator.post("/rules/preview", data=data, headers=HTMX)
    whole = as_operator.post("/rules/preview", data=data)

    text = words(fragment)
    assert "joerg@example.org" in text
    assert "Hello Jörg 🎙" in text
    assert f"On {(utcnow() + timedelta(days=2)).year}" in text
    assert "<b>" not in fragment.get_data(as_text=True)
    assert text in words(whole)


def test_the_preview_says_what_is_missing(
    as_operator: FlaskClient, house: UUID
) -> None:
    for values, part in (
        ({"subject": "{{ guest.nope }}"}, "no value"),
        ({"text": "{{ episode.title }}"}, "episode.title"),
        ({"trigger_type": "nothing"}, "Choose what starts"),
        ({"scope": "nowhere"}, "Choose what starts"),
    ):
        answer = as_operator.post(
            "/rules/preview", data=mail(house, **values), headers=HTMX
        )
        assert answer.status_code == 200
        assert part in words(answer)


def test_invented_values_help_where_nothing_is_real(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        id_ = factories.congregation(session)
    answer = as_operator.post("/rules/preview", data=mail(id_, sample=""), headers=HTMX)
    assert "Hello Example" in words(answer)


def test_a_webhooks_preview_is_its_body(as_operator: FlaskClient, house: UUID) -> None:
    answer = as_operator.post("/rules/preview", data=hook(house), headers=HTMX)

    text = words(answer)
    assert "POST https://example.org/hook" in text
    assert '"type": "booking.confirmed"' in text
    assert "Jörg" in text


@pytest.mark.parametrize(
    ("trigger", "sample", "part"),
    [
        ("episode.published", "e1", "On bells"),
        ("guest.responded", "g1", "Grace"),
        ("time.before_publish", "e1", "On bells"),
    ],
)
def test_a_rule_is_tried_on_what_its_trigger_is_about(
    as_operator: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    trigger: str,
    sample: str,
    part: str,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.add_all(
            [
                Episode(
                    congregation_id=house, id="e1", podcast_id="show", title="On bells"
                ),
                EpisodeGuest(
                    congregation_id=house,
                    id="g1",
                    podcast_id="show",
                    episode_id="e1",
                    name="Grace",
                    email="grace@example.org",
                    access_token="let-me-in",
                ),
            ]
        )
    data = mail(
        house,
        trigger_type=trigger,
        sample=sample,
        recipient="host",
        subject="{{ episode.title }} {{ guest.name | default: '' }}",
    )
    answer = as_operator.post("/rules/preview", data=data, headers=HTMX)

    assert part in words(answer)
    assert "ines@example.org" in words(answer)
    assert "let-me-in" not in answer.get_data(as_text=True)


def test_a_mails_html_stands_in_a_frame_that_can_do_nothing(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = mail(house, html="<h1 style='color:red'>{{ guest.name }}</h1>" + XSS)
    shown = soup(as_operator.post("/rules/preview", data=data, headers=HTMX))
    frame, form = shown.select_one("iframe"), shown.select_one("form.mail-form")
    assert frame is not None
    assert form is not None
    assert "sandbox" in frame.attrs
    assert not frame["sandbox"]  # nothing is allowed
    assert form["target"] == frame["name"]

    sent = {str(one["name"]): str(one["value"]) for one in form.select("input")}
    answer = as_operator.post(str(form["action"]), data=sent)
    assert answer.status_code == 200
    assert "<h1 style='color:red'>Jörg 🎙</h1>" in answer.get_data(as_text=True)
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox;")
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_a_rule_is_edited(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add(factories.reminder)
    form = soup(as_operator.get(f"/rules/{rule_id}/edit"))
    offset, version = form.select_one("#offset_value"), form.select_one("#version")
    assert offset is not None
    assert version is not None
    assert (offset["value"], version["value"]) == ("24", "1")

    data = mail(house, name="Sooner", version="1", trigger_type="time.before_recording")
    answer = as_operator.post(f"/rules/{rule_id}", data=data | {"offset_value": "2"})

    assert answer.location == f"/rules/{rule_id}"
    (rule,) = read(Rule)
    assert (rule.name, rule.offset_value, rule.version) == ("Sooner", 2, 2)
    assert "2 hours before the recording" in words(as_operator.get(answer.location))


def test_two_operators_do_not_overwrite_each_other(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add()
    path = f"/rules/{rule_id}"
    as_operator.post(path, data=mail(house, name="First", version="1"))
    answer = as_operator.post(path, data=mail(house, name="Second", version="1"))

    assert answer.status_code == 409
    assert "changed this rule meanwhile" in words(answer)
    assert [rule.name for rule in read(Rule)] == ["First"]


def test_a_bad_edit_changes_nothing(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add()
    answer = as_operator.post(
        f"/rules/{rule_id}", data=mail(house, version="1", scope=f"{house}/elsewhere")
    )

    assert answer.status_code == 422
    assert "There is no podcast “elsewhere” here" in words(answer)
    assert read(Rule)[0].version == 1


def test_planning_what_comes_is_asked_for(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    data = mail(house, trigger_type="time.before_recording")
    quiet = as_operator.post("/rules/", data=data)
    assert read(ScheduledJob) == []
    assert "Plan for what is coming" in words(as_operator.get(quiet.location))

    asked = mail(house, trigger_type="time.before_recording", also_coming="y")
    foretold = as_operator.post("/rules/", data=asked)
    assert "1 job is planned" in words(foretold)
    assert read(ScheduledJob) == []
    answer = as_operator.post("/rules/", data=asked | {"confirmed": "y"})
    (job,) = read(ScheduledJob)
    assert job.state is JobState.PENDING
    page = words(as_operator.get(answer.location))
    assert "1 job planned." in page
    assert "Jörg" in page

    as_operator.post(f"{quiet.location}/enable?coming=1")
    assert len(read(ScheduledJob)) == 2


def test_a_rule_is_switched_off_and_on_where_it_is_listed(
    as_operator: FlaskClient, add: Callable[..., UUID], read: Callable[..., list[Any]]
) -> None:
    rule_id = add()
    here = "http://localhost/rules/?text=wel"
    answer = as_operator.post(f"/rules/{rule_id}/disable", headers={"Referer": here})

    assert answer.location == "/rules/?text=wel"
    assert not read(Rule)[0].enabled
    page = as_operator.get(answer.location)
    assert "switched off. What is pending stays" in words(page)
    assert soup(page).select_one(f"#rule-{rule_id} [data-state=disabled]") is not None

    as_operator.post(f"/rules/{rule_id}/enable")
    assert read(Rule)[0].enabled


def test_a_rule_with_overdue_work_is_switched_on_with_a_plan(
    as_operator: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    read: Callable[..., list[Any]],
) -> None:
    late = utcnow() - timedelta(minutes=5)
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, house, enabled=False)
        factories.execution(session, rule, run_at=late, due_at=late)
        path = f"/rules/{rule.id}"

    answer = as_operator.post(f"{path}/enable")
    assert answer.location == f"{path}/switch-on"
    assert not read(Rule)[0].enabled
    page = soup(as_operator.get(answer.location))
    assert "1 is still of use" in " ".join(page.text.split())
    fields = page.select("form.question input[type=hidden]")
    data = {str(field["name"]): str(field["value"]) for field in fields}
    refused = as_operator.post(f"{path}/enable", data=data)
    assert refused.status_code == 422
    assert "Choose what becomes of what waits." in words(refused)
    as_operator.post(f"{path}/enable", data=data | {"plan": "drop"})
    assert read(Rule)[0].enabled
    assert [one.state for one in read(Execution)] == [ExecutionState.CANCELLED]
    assert "Nothing is overdue" in words(as_operator.get(f"{path}/switch-on"))


def test_a_rule_that_is_off_says_what_still_waits(
    as_operator: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, house, enabled=False)
        factories.job(session, rule)
        path = f"/rules/{rule.id}"

    assert "1 scheduled job and 0 executions still wait" in words(as_operator.get(path))


def test_deleting_says_before_and_after_what_it_cancels(
    as_operator: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    read: Callable[..., list[Any]],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, house)
        factories.job(session, rule)
        factories.execution(session, rule)
        path = f"/rules/{rule.id}"

    question = "cancels 1 scheduled job and 1 waiting execution"
    assert question in words(as_operator.get(path))
    answer = as_operator.post(f"{path}/delete")
    assert answer.location == "/rules/"
    assert "1 scheduled job and 1 execution are cancelled" in words(
        as_operator.get("/rules/")
    )
    assert [job.state for job in read(ScheduledJob)] == [JobState.CANCELLED]
    assert [one.state for one in read(Execution)] == [ExecutionState.CANCELLED]

    page = words(as_operator.get(path))
    assert "This rule was deleted" in page
    assert "Edit" not in page
    assert as_operator.get(f"{path}/edit").status_code == 404
    assert as_operator.post(f"{path}/enable").status_code == 409
    assert as_operator.post(f"{path}/delete").status_code == 409


def test_only_an_admin_replaces_a_secret(
    as_operator: FlaskClient,
    as_admin: FlaskClient,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add(action="webhook", settings={"url": "https://example.org/"})

    assert as_operator.post(f"/rules/{rule_id}/secret").status_code == 403
    assert "New secret" not in words(as_operator.get(f"/rules/{rule_id}"))
    assert "New secret" in words(as_admin.get(f"/rules/{rule_id}"))
    answer = as_admin.post(f"/rules/{rule_id}/secret")
    assert "whsec_" in words(answer)
    assert read(Rule)[0].secret is not None


def test_a_viewer_looks_and_changes_nothing(
    as_viewer: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add()
    page = as_viewer.get(f"/rules/{rule_id}")
    assert page.status_code == 200
    assert not soup(page).select("form[action^='/rules/']")
    for path in ("/rules/new", f"/rules/{rule_id}/edit"):
        assert as_viewer.get(path).status_code == 403
    for path in (
        "/rules/",
        "/rules/fields",
        "/rules/preview",
        "/rules/preview/mail",
        f"/rules/{rule_id}",
        f"/rules/{rule_id}/enable",
        f"/rules/{rule_id}/disable",
        f"/rules/{rule_id}/delete",
        f"/rules/{rule_id}/secret",
    ):
        assert as_viewer.post(path, data=mail(house)).status_code == 403
    assert [(rule.name, rule.enabled) for rule in read(Rule)] == [("Welcome", True)]


def test_a_change_needs_the_sessions_token(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    answer = as_operator.post(
        "/rules/", data=mail(house), headers={"X-CSRFToken": "wrong"}
    )
    assert answer.status_code == 400
    assert read(Rule) == []


def test_a_stranger_finds_nothing_and_changes_nothing(
    log_in: Callable[..., FlaskClient],
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        theirs = factories.congregation(session, "twin")
        factories.booking(session, theirs, guest_name="Twin")
    rule_id = add()
    other = log_in(
        "admin", email="twin@example.org", sees_all=False, congregations=[theirs]
    )

    assert str(rule_id) not in other.get("/rules/").get_data(as_text=True)
    for path in (f"/rules/{rule_id}", f"/rules/{rule_id}/edit"):
        assert other.get(path).status_code == 404
    assert other.get(f"/rules/new?copy={rule_id}").status_code == 404
    for verb in ("", "/enable", "/disable", "/delete", "/secret"):
        answer = other.post(f"/rules/{rule_id}{verb}", data=mail(theirs))
        assert answer.status_code == 404
    for verb in ("fields", "preview"):
        answer = other.post(f"/rules/{verb}?rule={rule_id}", data=mail(theirs))
        assert answer.status_code == 404
    assert other.post("/rules/", data=mail(house)).status_code in {404, 422}
    shown = other.post("/rules/preview", data=mail(house), headers=HTMX)
    assert "Jörg" not in words(shown)
    (rule,) = read(Rule)
    assert (rule.name, rule.enabled, rule.deleted_at) == ("Welcome", True, None)


def test_a_name_is_never_markup(as_operator: FlaskClient, house: UUID) -> None:
    answer = as_operator.post("/rules/", data=mail(house, name=XSS))

    for path in ("/rules/", answer.location, f"{answer.location}/edit"):
        page = as_operator.get(path).get_data(as_text=True)
        assert XSS not in page
        assert "&lt;script&gt;alert(1)" in page


def test_the_list_is_filtered_by_its_address(
    as_operator: FlaskClient, house: UUID, add: Callable[..., UUID]
) -> None:
    add(name="Everywhere")
    add(name="Only here", podcast_id="show", enabled=False)
    add(factories.reminder, name="Later")
    add(name="Hook", action="webhook", settings={"url": "https://example.org/"})
    for query, expected in {
        "text=ONLY": {"Only here"},
        "text=100%25": set(),
        "enabled=off": {"Only here"},
        "trigger=time.before_recording": {"Later"},
        "action=webhook": {"Hook"},
        f"scope={house}/show": {"Everywhere", "Only here", "Later", "Hook"},
        f"scope={house}/other": {"Everywhere", "Later", "Hook"},
        "enabled=maybe": {"Everywhere", "Only here", "Later", "Hook"},
        "scope=%00": {"Everywhere", "Only here", "Later", "Hook"},
    }.items():
        page = soup(as_operator.get(f"/rules/?{query}"))
        found = {row.text for row in page.select(".rule-name strong")}
        assert found == expected, query


def test_a_filter_that_hides_everything_says_so(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    add()
    assert "No rule matches" in words(as_operator.get("/rules/?text=nothing"))


def test_the_list_counts_what_fired_lately(
    as_operator: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    now = utcnow()
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, house)
        for hours, state in (
            (1, ExecutionState.SUCCEEDED),
            (30, ExecutionState.FAILED),
            (40, ExecutionState.QUARANTINED),
            (24 * 8, ExecutionState.FAILED),
        ):
            at = now - timedelta(hours=hours)
            factories.execution(session, rule, state=state, created_at=at)
        path = f"/rules/{rule.id}"
        row_id = f"#rule-{rule.id}"

    row = soup(as_operator.get("/rules/")).select_one(row_id)
    assert row is not None
    cells = [" ".join(cell.text.split()) for cell in row.select("td")]
    assert cells[3:6] == ["1", "3 2 failed", "1 h ago"]
    assert "Failed in 7 days 2" in words(as_operator.get(path))


def test_a_rules_page_tells_why_it_did_nothing(
    as_operator: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, house)
        session.add(
            Decision(
                congregation_id=house,
                rule_id=rule.id,
                rule_version=1,
                outcome=DecisionOutcome.NO,
                reason="rule_disabled",
            )
        )
        path = f"/rules/{rule.id}"

    assert "The rule is switched off." in words(as_operator.get(path))


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


def test_long_lists_have_pages(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    for number in range(51):
        add(name=f"Rule {number:02}")
    first = soup(as_operator.get("/rules/"))
    following = first.select_one("a[rel=next]")
    assert following is not None
    assert len(first.select("tbody tr")) == 50

    second = soup(as_operator.get(str(following["href"])))
    assert [row.text for row in second.select(".rule-name strong")] == ["Rule 50"]


def test_a_page_costs_the_same_for_one_rule_and_for_forty(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    add()
    as_operator.get("/rules/")
    with statements() as one:
        as_operator.get("/rules/")
    for number in range(39):
        add(name=f"Rule {number}")
    with statements() as forty:
        as_operator.get("/rules/")
    assert len(one) == len(forty)
