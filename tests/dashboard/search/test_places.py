"""Searching lists within a thing: a congregation's ledger, a rule's versions."""

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
from tasks.models import Erased, Erasure, RuleVersion, new_id
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.statements import statements

#: Somebody who was erased, and somebody who was not.
GONE = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
HERE = UUID("01890a5d-ac96-774b-bcce-b302099a8058")


@pytest.fixture
def places(sqlite_engine: Engine) -> dict[str, str]:
    """Return the addresses of two ledgers, and of the versions of two rules."""
    found = {}
    with sessions(sqlite_engine).begin() as session:
        for slug, who in (("north", "anna@example.org"), ("south", "zoe@example.org")):
            of = factories.congregation(session, slug)
            for n in range(2):
                row = Erasure(congregation_id=of, entity_id=new_id(), requested_by=who)
                row.entity_type = Erased.ACCOUNT if n else Erased.MEMBER
                row.completed_at = utcnow() if n else None
                row.external_ref = f"m-{n}"
                if slug == "north" and n:
                    row.entity_id = GONE
                session.add(row)
            rule = factories.rule(session, of, name=f"Bell of {slug}", version=3)
            for number, verb in enumerate(("created", "edited", "restored"), start=1):
                version = RuleVersion(congregation_id=of, rule_id=rule.id)
                version.version, version.verb = number, verb
                version.actor = "ben@example.org" if number == 2 else who
                version.created_at = utcnow() - timedelta(days=10 - number, hours=-1)
                version.document = {}
                session.add(version)
            found[f"ledger of {slug}"] = f"/retention/{slug}/ledger"
            found[f"versions of {slug}"] = f"/rules/{rule.id}/versions"
    return found


def _page(client: FlaskClient, path: str) -> BeautifulSoup:
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.text)
    return BeautifulSoup(answer.text, "html.parser")


def _n(page: BeautifulSoup) -> int:
    return len(page.select("#ledger tbody tr, .versions tbody tr"))


@pytest.mark.parametrize(
    ("place", "search", "n"),
    [
        ("ledger", "what:account", 1),
        ("ledger", f"of:{GONE}", 1),
        ("ledger", str(GONE), 1),
        ("ledger", f"of:{HERE}", 0),
        ("ledger", "ref:m-0", 1),
        ("ledger", "m-1", 1),
        ("ledger", "by:ANNA", 2),
        ("ledger", "zoe", 0),
        ("ledger", "found:no", 1),
        ("ledger", "done:today[UTC] asked:today[UTC]", 1),
        ("versions", "how:restored", 1),
        ("versions", "by:ben", 1),
        ("versions", "anna", 2),
        ("versions", "version:>=2", 2),
        ("versions", "made:<-8d", 1),
        ("versions", "-how:created how:edited", 1),
    ],
)
def test_what_is_searched_is_found_in_its_place_alone(
    as_viewer: FlaskClient, places: dict[str, str], place: str, search: str, n: int
) -> None:
    path = places[f"{place} of north"]
    page = _page(as_viewer, f"{path}?q={search}")
    assert _n(page) == n
    form = page.select_one("form[role=search]")
    assert form is not None
    assert form["action"] == path
    assert page.select_one("input[name=slug], input[name=rule_id]") is None
    for chip in page.select(".chip"):
        assert str(chip["href"]).startswith(path)
    (cleared,) = [link for link in form.select("a") if link.text.strip() == "Clear"]
    assert _n(_page(as_viewer, str(cleared["href"]))) > n or n == 2


def test_a_place_without_a_search_offers_nothing_to_save_or_to_clear(
    as_viewer: FlaskClient, places: dict[str, str]
) -> None:
    for path in places.values():
        page = _page(as_viewer, path)
        assert page.select_one("input[name=q]")
        assert page.select(".chip") == []
        assert "Save this search" not in page.text
        assert page.find("a", string="Clear") is None


def test_the_fields_of_a_place_lead_back_to_it(
    as_viewer: FlaskClient, places: dict[str, str]
) -> None:
    for path in places.values():
        page = _page(as_viewer, path)
        about = page.select_one(".search-help a")
        assert about is not None
        fields = _page(as_viewer, str(about["href"]))
        examples = [str(link["href"]) for link in fields.select("#fields a")]
        assert len(examples) >= 4
        for href in [*examples, str(fields.select(".crumbs a")[0]["href"])]:
            assert href.startswith(path)
            _page(as_viewer, href)
    for word in ("ledger", "versions"):
        assert as_viewer.get(f"/search/{word}").status_code == 404
        assert as_viewer.get(f"/search/{word}/options?q=b").status_code == 200


def test_what_cannot_be_read_stays_in_the_box_of_its_place(
    as_viewer: FlaskClient, places: dict[str, str]
) -> None:
    for path in places.values():
        answer = as_viewer.get(f"{path}?q=nofield:x&slug=south&rule_id=3")
        assert answer.status_code == 422
        page = BeautifulSoup(answer.text, "html.parser")
        form = page.select_one("form[role=search]")
        assert form is not None
        assert form["action"] == path
        assert page.select("input[name=q]")[0]["value"] == "nofield:x"


def test_an_address_cannot_make_it_another_place(
    log_in: Callable[..., Browser], places: dict[str, str], sqlite_engine: Engine
) -> None:
    with sessions(sqlite_engine).begin() as session:
        own = factories.congregation(session, "own")
    browser = log_in("admin", sees_all=False, congregations=[own])
    for path in places.values():
        assert browser.get(f"{path}?q=by:a").status_code == 404
    assert browser.get("/exports/ledger?slug=north").status_code == 404
    assert browser.get("/exports/ledger?slug=").status_code == 400
    assert browser.get("/exports/ledger").status_code == 400
    assert browser.get("/exports/versions?rule_id=3").status_code == 400
    rule_id = places["versions of north"].split("/")[2]
    asked = browser.get(f"/exports/versions?rule_id={rule_id}")
    assert "Nothing to export" in asked.text
    page = browser.get(f"{places['ledger of north']}?slug=own")
    assert page.status_code == 404


def test_a_search_of_a_place_is_saved_counted_and_offered_there_alone(
    as_operator: Browser, places: dict[str, str]
) -> None:
    path = places["versions of north"]
    page = _page(as_operator, f"{path}?q=how:restored")
    (save,) = [a for a in page.select("a") if "Save this search" in a.text]
    data = {"name": "Brought back", "audience": "me"}
    assert as_operator.post(str(save["href"]), data=data).status_code == 303
    (row,) = _page(as_operator, "/views/").select("#views tbody tr")
    count = row.select_one(".number, .count")
    assert count is not None
    assert count.text.strip() == "1"
    link = row.select_one("a")
    assert link is not None
    assert _n(_page(as_operator, str(link["href"]))) == 1
    assert "Brought back" in "".join(
        bar.text for bar in _page(as_operator, path).select("ul.views")
    )
    elsewhere = _page(as_operator, places["versions of south"])
    assert elsewhere.select("ul.views") == []


def test_files_of_places_have_the_rows_that_the_search_leaves(
    as_operator: Browser, places: dict[str, str]
) -> None:
    for name, search, column, expected in (
        ("ledger", "what:account", "of", [str(GONE)]),
        ("versions", "-by:ben", "how", ["restored", "created"]),
    ):
        page = _page(as_operator, f"{places[f'{name} of north']}?q={search}")
        (export,) = [a for a in page.select("a") if "Export" in a.text]
        asked = _page(as_operator, str(export["href"]))
        form = asked.select_one("form[action*='/csv']")
        assert form is not None
        text = as_operator.post(str(form["action"])).text
        rows = [*csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))]
        assert [row[column] for row in rows] == expected


def test_a_comparison_of_versions_keeps_the_search(
    as_viewer: FlaskClient, places: dict[str, str]
) -> None:
    path = f"{places['versions of north']}?q=version:>1"
    page = _page(as_viewer, path)
    form = page.select_one("form.stack")
    assert form is not None
    kept = form.select_one("input[name=q]")
    assert kept is not None
    assert kept["value"] == "version:>1"
    compared = _page(as_viewer, f"{path}&a=2&b=3")
    assert compared.select("#comparison")
    assert _n(compared) == 2


def test_a_ledger_costs_no_more_for_more_rows(
    as_viewer: FlaskClient, places: dict[str, str], sqlite_engine: Engine
) -> None:
    path = f"{places['ledger of north']}?q=by:anna+-ref:x"
    _page(as_viewer, path)
    with statements() as few:
        _page(as_viewer, path)
    with sessions(sqlite_engine).begin() as session:
        of: UUID = factories.congregation(session, "more")
        session.add_all(
            Erasure(
                congregation_id=of,
                entity_id=new_id(),
                entity_type=Erased.MEMBER,
                requested_by="anna",
            )
            for _ in range(60)
        )
    with statements() as many:
        page = _page(as_viewer, "/retention/more/ledger?q=by:anna+-ref:x")
    assert _n(page) == 50
    assert len(few) == len(many) < 20
    following = page.select_one("a[rel=next]")
    assert following is not None
    assert _n(_page(as_viewer, str(following["href"]))) == 10
