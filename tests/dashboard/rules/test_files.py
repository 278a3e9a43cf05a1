"""Rules leave and enter the console as files, with a look before anything is saved."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from tasks.models import AuditEntry, Replan, Rule
from tasks.operations.rule_files import FILE_MAX
from tests.dashboard.rules.conftest import XSS, soup, words
from tests.support import factories
from tests.support.factories import NOW


def send(
    client: FlaskClient, path: str, fields: dict[str, str], file: bytes | None = None
) -> TestResponse:
    """Send a form as a browser does: every line end becomes CR LF."""
    parts = [
        f'name="{name}"\r\n\r\n'.encode() + re.sub("\r?\n", "\r\n", value).encode()
        for name, value in fields.items()
    ]
    if file is not None:
        parts.append(b'name="file"; filename="rules.yaml"\r\n\r\n' + file)
    head = b"--x\r\nContent-Disposition: form-data; "
    body = b"".join(head + part + b"\r\n" for part in parts) + b"--x--\r\n"
    return client.post(path, data=body, content_type="multipart/form-data; boundary=x")


def upload(client: FlaskClient, of: UUID, text: str | bytes) -> TestResponse:
    data = text.encode() if isinstance(text, str) else text
    return send(client, "/rules/import", {"congregation": str(of)}, data)


def hidden(answer: TestResponse) -> dict[str, str]:
    fields = soup(answer).select('form[action="/rules/import/save"] input[type=hidden]')
    return {str(each["name"]): str(each["value"]) for each in fields}


def save(client: FlaskClient, sent: dict[str, str]) -> TestResponse:
    return send(client, "/rules/import/save", sent)


def test_what_is_exported_comes_back_after_a_look(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add(name="Welcome 🎙")
    out = as_operator.get(f"/rules/{rule_id}/export")
    assert out.headers["Content-Disposition"] == 'attachment; filename="welcome.yaml"'
    text = out.get_data(as_text=True).replace("name: Welcome", "name: Greeting")

    look = upload(as_operator, house, text)
    assert look.status_code == 200
    assert "1 changed rule" in words(look)
    assert "Welcome 🎙 → Greeting 🎙" in words(look)
    assert read(Rule)[0].name == "Welcome 🎙"

    answer = save(as_operator, hidden(look))
    assert answer.location == "/rules/"
    (rule,) = read(Rule)
    assert (rule.name, rule.version) == ("Greeting 🎙", 2)
    assert "rule.imported" in {entry.action for entry in read(AuditEntry)}


def test_all_rules_are_exported_and_new_ones_are_off(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
    sqlite_engine: Engine,
) -> None:
    add(name="One")
    add(name="Two")
    add(name="Gone", deleted_at=NOW)
    with Session(sqlite_engine) as session, session.begin():
        there = factories.congregation(session, "there")
    text = as_operator.get("/rules/export").get_data(as_text=True)
    assert "Gone" not in text

    look = upload(as_operator, there, text)
    assert "2 new rules" in words(look)
    assert "When a booking is confirmed, e-mail the guest." in words(look)
    save(as_operator, hidden(look))
    made = [rule for rule in read(Rule) if rule.congregation_id == there]
    assert [rule.enabled for rule in made] == [False, False]
    only = as_operator.get(f"/rules/export?congregation={there}").get_data(as_text=True)
    assert only.count("- id:") == 2


def test_new_webhooks_show_their_secrets_once(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    text = (
        "carillon: rules/1\nrules:\n- name: Hook\n  trigger_type: booking.confirmed\n"
        "  action: webhook\n  enabled: true\n  settings: {url: 'https://a.example/x'}\n"
    )
    look = upload(as_operator, house, text)
    answer = save(as_operator, hidden(look) | {"switch_on": "y"})
    assert "whsec_" in words(answer)
    assert read(Rule)[0].enabled


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Choose a file that is not empty."),
        ("a: &a [1]\nb: *a", "Line 1 Anchors and aliases"),
        ("a: 1\nb: !!python/object/apply:os.system [id]", "Line 2 Tags"),
        (b"a: \xff", "Line 1 This is no UTF-8 text"),
        ("carillon: rules/1\nrules:\n- name: [1]", "Line 3 This must be a text"),
        (f"carillon: rules/1\nrules:\n- {XSS}: 1", "Line 3"),
        ("#" * (FILE_MAX + 1), "at most 1 MB"),
    ],
)
def test_a_bad_file_is_told_line_by_line(
    as_operator: FlaskClient,
    house: UUID,
    read: Callable[..., list[Any]],
    text: str | bytes,
    says: str,
) -> None:
    answer = upload(as_operator, house, text)
    assert answer.status_code == 422
    assert says in words(answer)
    assert XSS not in answer.get_data(as_text=True)
    assert read(Rule) == []


def test_a_file_as_large_as_it_may_be_is_looked_at_and_saved(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    out = as_operator.get(f"/rules/{add()}/export").get_data()
    text = out.replace(b"name: Welcome", b"name: Big")
    big = text + b"#" * (FILE_MAX - len(text) - 1) + b"\n"
    look = upload(as_operator, house, big)
    assert look.status_code == 200, words(look)
    assert save(as_operator, hidden(look)).status_code == 303
    assert read(Rule)[0].name == "Big"
    assert upload(as_operator, house, big * 2).status_code == 413


def test_what_was_changed_meanwhile_is_looked_at_again(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
    sqlite_engine: Engine,
) -> None:
    rule_id = add()
    out = as_operator.get(f"/rules/{rule_id}/export").get_data(as_text=True)
    look = upload(as_operator, house, out.replace("name: Welcome", "name: Later"))
    with Session(sqlite_engine) as session, session.begin():
        session.get_one(Rule, rule_id).version = 5
    answer = save(as_operator, hidden(look))
    assert answer.status_code == 409
    assert "changed meanwhile" in words(answer)
    assert read(Rule)[0].name == "Welcome"
    assert save(as_operator, hidden(answer)).status_code == 303


def test_a_congregation_that_is_not_ones_own_is_refused(
    as_operator: FlaskClient, house: UUID
) -> None:
    answer = upload(as_operator, UUID(int=7), "a: 1")
    assert answer.status_code == 422
    assert "Choose one of these congregations." in words(answer)
    nonsense = as_operator.post("/rules/import", data={"congregation": "x\0"})
    assert nonsense.status_code == 422
    assert as_operator.post("/rules/import/save").status_code == 422


def test_a_viewer_takes_files_out_and_brings_none_in(
    as_viewer: FlaskClient, house: UUID, add: Callable[..., UUID]
) -> None:
    assert as_viewer.get(f"/rules/{add()}/export").status_code == 200
    assert as_viewer.get("/rules/import").status_code == 403
    assert upload(as_viewer, house, "a: 1").status_code == 403
    assert "Import" not in words(as_viewer.get("/rules/"))


def test_jobs_that_are_still_to_be_moved_are_told(
    as_viewer: FlaskClient, house: UUID, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, house, version=2, plan_version=2)
        rule_id = rule.id
        factories.job(session, rule, rule_version=1)
        session.add(
            Replan(congregation_id=house, rule_id=rule_id, since=NOW, touched_at=NOW)
        )
    notice = soup(as_viewer.get(f"/rules/{rule_id}")).select_one("#replanning")
    assert notice is not None
    assert "1 job of it is still being moved" in " ".join(notice.text.split())
