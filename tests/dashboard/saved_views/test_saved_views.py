"""Saved views: one's own and shared ones, with numbers that are honest and cheap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from dashboard.operators.models import Operator
from dashboard.saved_views import counting, keeping, views
from tasks.models import AuditEntry, ExecutionState, Rule, SavedView, new_id
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.statements import statements

MINE = {"name": "Failed ones", "audience": "me"}
NEW = "/views/new/executions?q=state:failed+guest:anna"


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Begin and end without numbers that were counted before."""
    counting._kept.clear()
    yield
    counting._kept.clear()


@pytest.fixture
def rule(sqlite_engine: Engine) -> Rule:
    """Return a rule with two failed executions for Anna."""
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        here = factories.congregation(session)
        factories.booking(session, here, guest_name="Anna Berg")
        rule = factories.rule(session, here)
        for _ in range(2):
            factories.execution(session, rule, state=ExecutionState.FAILED)
        return rule


def _views(engine: Engine) -> list[SavedView]:
    with Session(engine) as session:
        return list(session.scalars(select(SavedView).order_by(SavedView.name)))


def _menu(client: FlaskClient) -> dict[str, str]:
    page = BeautifulSoup(client.get("/views/menu").text, "html.parser")
    texts = [" ".join(link.text.split()) for link in page.select("a")]
    return {text.rpartition(" ")[0]: text.rpartition(" ")[2] for text in texts}


def test_a_search_is_saved_found_again_and_counted(
    as_viewer: Browser, rule: Rule, sqlite_engine: Engine
) -> None:
    listed = BeautifulSoup(
        as_viewer.get("/executions/?q=state:failed+guest:anna").text, "html.parser"
    )
    link = listed.find("a", string=lambda text: bool(text and "Save this" in text))
    assert "Save this search" in listed.text, link
    asked = as_viewer.get(NEW)
    assert "guest:anna" in asked.text
    saved = as_viewer.post(NEW, data=MINE)
    assert saved.status_code == 303
    assert "state=failed" in saved.headers["Location"]
    (view,) = _views(sqlite_engine)
    assert view.filter == {"state": "failed", "q": "guest:anna"}
    assert _menu(as_viewer) == {"Failed ones": "2"}
    page = as_viewer.get(saved.headers["Location"])
    assert "Failed ones" in page.text
    assert "Save this search" not in page.text
    assert "Failed ones" in as_viewer.get("/views/").text
    assert as_viewer.get(f"/views/{view.id}").status_code == 200


def test_a_saved_day_stays_the_day_of_the_clock_it_was_saved_by(
    as_operator: Browser, rule: Rule, sqlite_engine: Engine
) -> None:
    def turn_clock(zone: str) -> None:
        with Session(sqlite_engine) as session, session.begin():
            session.execute(update(Operator).values(timezone=zone))

    # What the rule's executions are due at is another day already by this clock.
    day = factories.NOW.astimezone(ZoneInfo("Pacific/Auckland")).date().isoformat()
    asked = f"q=due:{day}&since=2026-01-01T00:00"
    turn_clock("Pacific/Auckland")
    as_operator.post(f"/views/new/executions?{asked}", data=MINE)
    (view,) = _views(sqlite_engine)
    assert view.filter == {
        "q": f"due:{day}[Pacific/Auckland]",
        "since": "2025-12-31T11:00:00+00:00",
    }
    for zone in ("Pacific/Auckland", "UTC", "America/New_York"):
        turn_clock(zone)
        assert _menu(as_operator) == {"Failed ones": "2"}
    as_operator.post(f"/exports/executions/json?{asked}")
    with Session(sqlite_engine) as session:
        exported = AuditEntry.action == "export.begun"
        entry = session.scalars(select(AuditEntry).where(exported)).one()
    assert entry.after
    assert entry.after["filter"]["q"] == f"due:{day}[America/New_York]"


def test_the_same_name_replaces_and_others_are_changed_and_deleted(
    as_viewer: Browser, rule: Rule, sqlite_engine: Engine
) -> None:
    as_viewer.post(NEW, data=MINE)
    as_viewer.post("/views/new/executions?q=guest:b", data=MINE)
    (view,) = _views(sqlite_engine)
    assert view.filter == {"q": "guest:b"}
    as_viewer.post("/views/new/events?type=booking.confirmed", data=MINE)
    as_viewer.post(NEW, data=MINE | {"name": "Other"})
    taken = as_viewer.post(f"/views/{view.id}", data=MINE | {"name": "Other"})
    assert taken.status_code == 422
    assert "There is a view of this name" in taken.text
    as_viewer.post(f"/views/{view.id}", data=MINE | {"name": "New", "alert_at": "3"})
    assert [(row.name, row.alert_at) for row in _views(sqlite_engine)] == [
        ("Failed ones", None),
        ("New", 3),
        ("Other", None),
    ]
    as_viewer.post(f"/views/{view.id}/delete")
    assert len(_views(sqlite_engine)) == 2
    with Session(sqlite_engine) as session:  # what concerns nobody else is not logged
        told = AuditEntry.action.startswith("view.")
        assert session.scalars(select(AuditEntry).where(told)).all() == []


def test_a_number_from_which_on_it_warns_stands_out(
    as_viewer: Browser, rule: Rule
) -> None:
    for name, at in (("Many", "3"), ("Few", "2")):
        as_viewer.post(NEW, data=MINE | {"name": name, "alert_at": at})
    page = BeautifulSoup(as_viewer.get("/views/menu").text, "html.parser")
    (alarming,) = page.select("a[data-alarming]")
    assert "Few" in alarming.text
    assert "which is a warning" in alarming.text
    home = BeautifulSoup(as_viewer.get("/").text, "html.parser")
    (tile,) = [each for each in home.select("a") if "Saved view" in each.text]
    assert "Few" in tile.text
    assert "state=failed" in str(tile["href"])


def test_what_is_wrong_gets_a_sentence(
    as_viewer: Browser, rule: Rule, sqlite_engine: Engine
) -> None:
    for data, sentence in (
        ({}, "Give it a name."),
        (MINE | {"name": "x" * 81}, "At most 80 characters."),
        (MINE | {"name": "\x00"}, "Give it a name."),
        (MINE | {"alert_at": "0"}, "A number from 1 to 10000."),
        (MINE | {"alert_at": "many"}, "Not a valid integer value."),
        (MINE | {"audience": "all"}, "Not a valid choice."),  # viewers share nothing
        (MINE | {"audience": str(rule.congregation_id)}, "Not a valid choice."),
    ):
        answer = as_viewer.post(NEW, data=data)
        assert answer.status_code == 422, data
        assert sentence in answer.text, data
    assert as_viewer.get("/views/new/nothing").status_code == 404
    assert as_viewer.post("/views/new/executions?q=no:1", data=MINE).status_code == 400
    assert as_viewer.post(f"/views/{new_id()}", data=MINE).status_code == 404
    assert _views(sqlite_engine) == []


def test_the_bar_has_the_views_of_its_list_however_many_the_menu_leaves_out(
    as_viewer: Browser, rule: Rule
) -> None:
    for number in range(views.MENU_MAX + 1):
        as_viewer.post(NEW, data=MINE | {"name": f"Failed {number}"})
        if number < 2:  # the menu has them all
            assert _bar(as_viewer) == [f"Failed {n}" for n in range(number + 1)]
    assert _bar(as_viewer) == [f"Failed {n}" for n in range(views.MENU_MAX + 1)]
    assert _bar(as_viewer, "/events/") == []
    assert len(_menu(as_viewer)) == views.MENU_MAX


def _bar(client: FlaskClient, path: str = "/executions/") -> list[str]:
    page = BeautifulSoup(client.get(path).text, "html.parser")
    return [link.text.strip() for link in page.select("ul.views a.chip")]


def test_nobody_keeps_more_than_fifty(
    as_viewer: Browser, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "VIEWS_MAX", 1)
    as_viewer.post(NEW, data=MINE)
    assert as_viewer.post(NEW, data=MINE).status_code == 303  # it is the same one
    answer = as_viewer.post(NEW, data=MINE | {"name": "Second"})
    assert answer.status_code == 422
    assert "which is the most" in answer.text


def test_shared_views_are_seen_where_they_were_shared_and_audited(
    log_in: Callable[..., Browser], rule: Rule, sqlite_engine: Engine
) -> None:
    here = rule.congregation_id
    with Session(sqlite_engine) as session, session.begin():
        there = factories.congregation(session, "there")

    def person(name: str, role: str, of: UUID) -> Browser:
        email = f"{name}@example.org"
        return log_in(role, email=email, sees_all=False, congregations=[of])

    anna, ben = person("anna", "operator", here), person("ben", "viewer", here)
    zoe = person("zoe", "operator", there)
    everyone = anna.post(NEW, data=MINE | {"name": "A", "audience": "all"})
    assert everyone.status_code == 422  # she does not see every congregation
    assert anna.post(NEW, data=MINE | {"audience": str(there)}).status_code == 422
    anna.post(NEW, data=MINE | {"audience": str(here)})
    (view,) = _views(sqlite_engine)
    assert _menu(ben) == {"Failed ones": "2"}
    assert _menu(zoe) == {}
    assert ben.get(f"/views/{view.id}").status_code == 409
    assert ben.post(f"/views/{view.id}/delete").status_code == 409
    assert zoe.post(f"/views/{view.id}/delete").status_code == 404
    carl = person("carl", "operator", here)
    assert carl.post(f"/views/{view.id}", data=MINE | {"audience": str(here)})
    carl.post(f"/views/{view.id}", data=MINE)
    assert _menu(ben) == {}
    assert _menu(anna) == {"Failed ones": "2"}
    with Session(sqlite_engine) as session:
        told = AuditEntry.action.startswith("view.")
        entries = session.scalars(select(AuditEntry).where(told).order_by("id")).all()
        assert [(e.action, e.congregation_id) for e in entries] == [
            ("view.shared", here),
            ("view.changed", here),
            ("view.unshared", here),
        ]


def test_everybody_counts_their_own_rows_in_a_view_for_all(
    as_admin: Browser, log_in: Callable[..., Browser], rule: Rule, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        there = factories.congregation(session, "there")
    as_admin.post(
        "/views/new/executions?state=failed",
        data={"name": "Failed", "audience": "all"},
    )
    zoe = log_in("admin", email="z@e.org", sees_all=False, congregations=[there])
    assert (_menu(as_admin), _menu(zoe)) == ({"Failed": "2"}, {"Failed": "0"})
    (view,) = _views(sqlite_engine)
    assert zoe.get(f"/views/{view.id}").status_code == 409  # it is not hers to change


def test_the_menu_counts_once_a_minute_and_survives_a_search_of_old(
    as_viewer: Browser, rule: Rule, sqlite_engine: Engine
) -> None:
    as_viewer.post(NEW, data=MINE)
    with statements() as first:
        as_viewer.get("/views/menu")
    assert any("count(" in text and "guest_name" in text for text in first)
    with statements() as again:
        assert _menu(as_viewer) == {"Failed ones": "2"}
        page = as_viewer.get("/executions/?state=running")
    counts = [text for text in again if "count(" in text]
    assert counts  # of the list's tabs, which know nothing of Anna
    assert not any("guest_name" in text for text in counts)
    menu = BeautifulSoup(page.text, "html.parser").select_one("#menu-views")
    assert menu is not None
    assert "hx-get" not in menu.attrs
    assert "Failed ones 2" in " ".join(menu.text.split())
    with Session(sqlite_engine) as session, session.begin():
        session.scalars(select(SavedView)).one().filter = {"q": "gone:field"}
    counting._kept.clear()
    assert _menu(as_viewer) == {"Failed ones": "?"}
    assert as_viewer.get("/views/").status_code == 200
