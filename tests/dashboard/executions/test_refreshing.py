"""The list of executions holds still while rows come and change."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import Execution
from tests.dashboard.executions.conftest import FAILED, S, ids_of


def test_pages_hold_still_while_rows_are_added(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    ids = [str(add(1_000 - n)) for n in range(60)][::-1]
    first = as_viewer.get("/executions/").text
    assert ids_of(first) == ids[:50]
    following = BeautifulSoup(first, "html.parser").find("a", rel="next")
    assert following is not None
    add(1)
    second = as_viewer.get(str(following["href"])).text
    assert ids_of(second) == ids[50:]
    previous = BeautifulSoup(second, "html.parser").find("a", rel="prev")
    assert previous is not None
    assert ids_of(as_viewer.get(str(previous["href"])).text) == ids[:50]


def test_the_fragment_is_a_part_of_the_page(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    id_ = add(**FAILED)
    htmx = {"HX-Request": "true"}
    for path in ("/executions/", f"/executions/{id_}"):
        page, part = as_viewer.get(path), as_viewer.get(path, headers=htmx)
        assert "<html" in page.text
        assert "<html" not in part.text
        assert part.text.strip() in page.text


def test_only_rows_that_changed_come_again_and_asking_ends(
    as_viewer: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    changing, same = add(), add(61)
    page = BeautifulSoup(as_viewer.get("/executions/").text, "html.parser")
    live = page.find(id="executions-live")
    assert live is not None
    assert live["hx-trigger"] == "every 2s"
    assert live["role"] == "status"  # what becomes a link inside it stays a link
    assert ids_of(as_viewer.get(str(live["hx-get"])).text) == []
    with Session(sqlite_engine) as session, session.begin():
        row = session.get_one(Execution, changing)
        row.state, row.settled_at = S.SUCCEEDED, utcnow()
    answer = as_viewer.get(str(live["hx-get"])).text
    assert ids_of(answer) == [str(changing)]
    assert f'id="execution-{changing}" data-state="succeeded" hx-swap-oob' in answer
    again = BeautifulSoup(answer, "html.parser").find(id="executions-live")
    assert again is not None
    assert str(same) in str(again["hx-get"])
    assert str(changing) not in str(again["hx-get"])


def test_a_page_behind_the_first_asks_no_more_when_all_is_settled(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    for n in range(60):
        add(100 + n, state=S.SUCCEEDED)
    first = BeautifulSoup(as_viewer.get("/executions/").text, "html.parser")
    live, following = first.find(id="executions-live"), first.find("a", rel="next")
    assert live is not None
    assert following is not None
    assert live["hx-trigger"] == "every 10s"
    second = BeautifulSoup(as_viewer.get(str(following["href"])).text, "html.parser")
    live = second.find(id="executions-live")
    assert live is not None
    assert not live.has_attr("hx-get")


def test_new_rows_are_announced_not_pushed(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    add(state=S.SUCCEEDED)
    page = BeautifulSoup(as_viewer.get("/executions/").text, "html.parser")
    live = page.find(id="executions-live")
    assert live is not None
    add(1)
    answer = as_viewer.get(str(live["hx-get"])).text
    assert "1 new: show it" in " ".join(answer.split())
    assert ids_of(answer) == []


def test_rows_that_are_not_ours_to_ask_for_are_refused(as_viewer: FlaskClient) -> None:
    assert as_viewer.get("/executions/live?row=nonsense").status_code == 400
