"""Searching agents, campaigns of outreach, imported lists, holds and retention."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tasks.clock import utcnow
from tasks.db import sessions
from tasks.models import Agent, ContactImport, Hold, OutreachCampaign
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.statements import statements

#: Each list, what finds one of its two rows, and the rows' table.
LISTS = {
    "/outreach/agents?q=north": "agents",
    "/outreach/campaigns?q=capped:yes": "campaigns",
    "/outreach/imports?q=file:north": "imports",
    "/holds/?q=by:north": "holds-ended",
    "/retention/?q=slug:north": "congregations",
}


def _fill(engine: Engine, names: tuple[str, ...]) -> list[UUID]:
    """Give two congregations a row of each list; one says "north" in its texts."""
    now = utcnow()
    with sessions(engine).begin() as session:
        found = []
        for name in names:
            of = factories.congregation(session, name, name=f"St. {name}")
            cap = 5 if name.startswith("north") else None
            ended = {"held_at": now, "until": now, "lifted_at": now}
            session.add_all(
                [
                    Agent(congregation_id=of, address=f"{name}@example.org"),
                    OutreachCampaign(congregation_id=of, name=name, daily_cap=cap),
                    ContactImport(
                        congregation_id=of, filename=f"{name}.csv", created_by="ada"
                    ),
                    Hold(congregation_id=of, why="x", held_by=name, **ended),
                ]
            )
            found.append(of)
        return found


@pytest.fixture
def houses(sqlite_engine: Engine) -> list[UUID]:
    """Return two congregations with a row of each list."""
    return _fill(sqlite_engine, ("north", "south"))


def _page(client: FlaskClient, path: str) -> BeautifulSoup:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return BeautifulSoup(answer.text, "html.parser")


def _n(page: BeautifulSoup, table: str) -> int:
    return len(page.select(f"#{table} tbody tr"))


@pytest.mark.parametrize(("path", "table"), LISTS.items())
def test_a_search_narrows_the_list_and_its_chip_takes_it_away(
    as_viewer: FlaskClient, houses: list[UUID], path: str, table: str
) -> None:
    found = _page(as_viewer, path)
    assert _n(found, table) == 1
    (chip,) = found.select(".chip")
    assert _n(_page(as_viewer, str(chip["href"])), table) == 2
    box = found.select_one("input[name=q]")
    assert box is not None
    assert box["value"] or "text" in chip.text
    none = _page(as_viewer, path.partition("?")[0] + "?q=nobody")
    assert _n(none, table) == 0
    assert none.select_one("input[name=q]"), "the search stays to be mended"
    assert "matches" in none.text


@pytest.mark.parametrize("path", LISTS)
def test_a_search_finds_nothing_of_other_congregations(
    log_in: Callable[..., Browser], houses: list[UUID], path: str
) -> None:
    browser = log_in("admin", sees_all=False, congregations=houses[1:])
    assert _n(_page(browser, path), LISTS[path]) == 0
    everything = _page(browser, path.partition("?")[0])
    assert _n(everything, LISTS[path]) == 1


@pytest.mark.parametrize("path", LISTS)
def test_a_search_keeps_to_its_pages_and_costs_the_same_for_more_rows(
    as_operator: Browser, sqlite_engine: Engine, path: str
) -> None:
    where = path.partition("?")[0]
    search = f"{where}?q=-id:01890a5d-ac96-774b-bcce-b302099a8057"
    _fill(sqlite_engine, tuple(f"north{n}" for n in range(3)))
    _page(as_operator, search)
    with statements() as few:
        _page(as_operator, search)
    _fill(sqlite_engine, tuple(f"south{n:02d}" for n in range(60)))
    with statements() as many:
        page = _page(as_operator, search)
    assert len(many) == len(few) < 20
    first = {row["id"] for row in page.select(f"#{LISTS[path]} tbody tr")}
    following = page.select_one("a[rel=next]")
    assert following is not None
    assert "q=-id" in str(following["href"])
    second = _page(as_operator, str(following["href"]))
    rest = {row["id"] for row in second.select(f"#{LISTS[path]} tbody tr")}
    assert len(first | rest) == len(first) + len(rest) == 63


def test_only_holds_that_ended_are_searched_and_written_to_files(
    log_in: Callable[..., Browser], sqlite_engine: Engine
) -> None:
    now = utcnow()
    with sessions(sqlite_engine).begin() as session:
        of = factories.congregation(session, "here")
        other = factories.congregation(session, "other")
        past = {"held_at": now - timedelta(days=2), "until": now - timedelta(days=1)}
        session.add_all(
            [
                Hold(congregation_id=of, why="=over", held_by="ada", **past),
                Hold(why="for all", held_by="ada", **past),
                Hold(congregation_id=of, why="goes on", held_by="ada"),
                Hold(congregation_id=other, why="not mine", held_by="ada", **past),
            ]
        )
    browser = log_in("operator", sees_all=False, congregations=[of])
    page = _page(browser, "/holds/?q=ada")
    assert _n(page, "holds-ended") == 2
    assert _n(page, "holds-active") == 1
    asked = browser.get("/exports/holds?q=lifted:no")
    assert "2 holds that ended" in asked.text
    text = browser.post("/exports/holds/csv?q=by:ada").text
    rows = [*csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))]
    assert [row["why"] for row in rows] == ["for all", "'=over"]


def test_a_view_of_each_list_is_saved_and_counted(
    as_operator: Browser, houses: list[UUID]
) -> None:
    for word, search in (
        ("agents", "north"),
        ("outreach-campaigns", "capped:yes"),
        ("contact-imports", "file:north"),
        ("holds", "by:north"),
        ("retention", "slug:north"),
    ):
        data = {"name": f"My {word}", "audience": "me"}
        saved = as_operator.post(f"/views/new/{word}?q={search}", data=data)
        assert saved.status_code == 303, saved.text
    page = _page(as_operator, "/views/")
    for row in page.select("#views tbody tr"):
        count = row.select_one(".number, .count")
        assert count is not None
        assert count.text.strip() == "1", row.text


def test_names_of_agents_campaigns_and_rules_are_offered(
    as_viewer: FlaskClient, houses: list[UUID], sqlite_engine: Engine
) -> None:
    with sessions(sqlite_engine).begin() as session:
        factories.rule(session, houses[0], name="Late bell")
    for word, typed, offered in (
        ("agents", "state:p", "state:paused"),
        ("agents", "congregation:so", "congregation:south"),
        ("contact-imports", "source:a", "source:api"),
        ("holds", "rule:late", "rule:&#34;Late bell&#34;"),
        ("holds", "channel:every", "channel:everything"),
        ("retention", "st", "stays:"),
    ):
        page = as_viewer.get(f"/search/{word}/options?q={typed}").text
        assert f'value="{offered}"' in page, (typed, page)
