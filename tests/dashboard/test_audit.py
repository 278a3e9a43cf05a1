"""The audit page: sentences, values, filters, and only one's own congregations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import AuditEntry, Congregation, new_id
from tests.support.statements import statements

Add = Callable[..., AuditEntry]


@pytest.fixture
def add(sqlite_engine: Engine) -> Add:
    def entry(**values: Any) -> AuditEntry:
        defaults: dict[str, Any] = {
            "id": new_id(),
            "actor": "anna@example.org",
            "action": "rule.edited",
            "subject_kind": "rule",
            "subject_id": str(new_id()),
            "summary": "Changed the rule Welcome.",
        }
        row = AuditEntry(**defaults | values)
        with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
            session.add(row)
        return row

    return entry


def test_an_entry_says_who_did_what_with_before_and_after(
    as_viewer: FlaskClient, add: Add, congregation: Congregation
) -> None:
    add(
        congregation_id=congregation.id,
        before={"name": "Welcome", "offset": 24, "same": 1},
        after={"name": "Hello", "offset": 24, "same": 1, "new": [1, 2]},
        ip="192.0.2.7",
    )
    page = as_viewer.get("/audit/").text
    for piece in (
        "Changed the rule Welcome.",
        "anna@example.org",
        "192.0.2.7",
        "St Mary",
        "rule.edited",
        "2 values",
        "Hello",
    ):
        assert piece in page
    assert ">same<" not in page


def test_subjects_are_linked_where_they_have_a_page(
    as_viewer: FlaskClient, add: Add, congregation: Congregation
) -> None:
    add(subject_kind="lane", subject_id="executions", action="lane.paused")
    add(
        subject_kind="congregation",
        subject_id=str(congregation.id),
        congregation_id=congregation.id,
    )
    add(subject_kind="execution", subject_id="many")
    add(subject_kind="unheard_of", subject_id="x")
    page = as_viewer.get("/audit/").text
    assert 'href="/lanes/executions"' in page
    assert 'href="/congregations/st-mary"' in page
    assert "/executions/many" not in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"actor": "ANNA"}, "first"),
        ({"action": "lane."}, "second"),
        ({"kind": "lane"}, "second"),
        ({"kind": "rule", "subject": "r-1"}, "first"),
        ({"since": "2026-01-02T00:00"}, "second"),
        ({"until": "2026-01-02T00:00"}, "first"),
        ({"actor": "100%"}, None),
        ({"actor": "_"}, None),
    ],
)
def test_filters_narrow_the_list(
    as_viewer: FlaskClient, add: Add, query: dict[str, str], found: str | None
) -> None:
    early = utcnow().replace(year=2026, month=1, day=1)
    ids = {
        "first": add(subject_id="r-1", created_at=early).id,
        "second": add(
            actor="boris@example.org",
            action="lane.paused",
            subject_kind="lane",
            created_at=early + timedelta(days=300),
        ).id,
    }
    page = as_viewer.get("/audit/", query_string=query).text
    shown = [name for name, id_ in ids.items() if f"audit-{id_}" in page]
    assert shown == ([found] if found else [])


def test_a_filter_that_cannot_be_read_says_so_and_narrows_nothing(
    as_viewer: FlaskClient, add: Add
) -> None:
    entry = add()
    page = as_viewer.get("/audit/?since=yesterday")
    assert page.status_code == 200
    assert "field-error" in page.text
    assert f"audit-{entry.id}" in page.text


def test_no_entry_and_no_match_say_different_things(
    as_viewer: FlaskClient, sqlite_engine: Engine
) -> None:
    assert "No entry fits the filter" in as_viewer.get("/audit/?actor=nobody").text
    with Session(sqlite_engine) as session, session.begin():
        session.query(AuditEntry).delete()
    assert "Nobody did anything yet" in as_viewer.get("/audit/").text


def test_pages_are_kept_apart_by_key(as_viewer: FlaskClient, add: Add) -> None:
    for n in range(55):
        add(created_at=utcnow() + timedelta(seconds=n))
    page = as_viewer.get("/audit/?actor=anna").text
    assert page.count('id="audit-') == 50
    older = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "actor=anna" in older
    assert as_viewer.get(older).text.count('id="audit-') == 5
    assert as_viewer.get("/audit/?cursor=nonsense").status_code == 400


def test_an_operator_of_one_congregation_sees_its_entries_only(
    log_in: Callable[..., FlaskClient],
    add: Add,
    congregation: Congregation,
    sqlite_engine: Engine,
) -> None:
    twin = Congregation(slug="twin", name="St Mary")
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        session.add(twin)
    mine = add(congregation_id=congregation.id)
    theirs = add(congregation_id=twin.id)
    everybodys = add(subject_kind="lane", subject_id="executions")
    browser = log_in("viewer", sees_all=False, congregations=[congregation.id])
    page = browser.get("/audit/").text
    assert f"audit-{mine.id}" in page
    assert f"audit-{theirs.id}" not in page
    assert f"audit-{everybodys.id}" not in page


def test_what_people_typed_is_shown_as_text(as_viewer: FlaskClient, add: Add) -> None:
    evil = "<img src=x onerror=alert(1)>"
    add(summary=evil, actor=evil, before={evil: evil}, after={evil: [evil]})
    page = as_viewer.get("/audit/").text
    assert "<img src=x" not in page


def test_nothing_can_be_changed(as_admin: FlaskClient) -> None:
    assert as_admin.post("/audit/").status_code == 405


def test_more_rows_cost_no_more_statements(
    as_viewer: FlaskClient, add: Add, congregation: Congregation
) -> None:
    def cost() -> int:
        with statements() as seen:
            as_viewer.get("/audit/")
        return len(seen)

    add(congregation_id=congregation.id)
    few = cost()
    for _ in range(30):
        add(congregation_id=congregation.id)
    assert cost() == few
