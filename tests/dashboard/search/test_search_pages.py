"""Searching the lists: chips, tabs, completion, and sentences for what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from dashboard.operators.models import Operator
from dashboard.search.kinds import SEARCHED
from tasks.models import (
    Congregation,
    ExecutionState,
    Operation,
    Rule,
    SuppressionReason,
    new_id,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.outreach import engagement
from tests.support.statements import statements

LISTS = {
    "/executions/": "q",
    "/scheduled/": "q",
    "/events/": "text",
    "/webhooks/deliveries": "q",
    "/operations/": "q",
    "/audit/": "q",
    "/members/": "q",
    "/outreach/": "q",
    "/outreach/contacts": "q",
    "/notifications/": "q",
    "/suppressions/": "q",
    "/lanes/runs": "q",
    "/rules/": "q",
    "/failures/": "q",
    "/webhooks/": "q",
    "/territories/": "q",
    "/campaigns/": "q",
    "/groups/": "q",
    "/board/": "q",
    "/addresses/": "q",
    "/addresses/syncs": "q",
    "/transfers/": "q",
    "/notifications/recipients": "q",
    "/congregations/": "q",
    "/tokens/": "q",
    "/outreach/agents": "q",
    "/outreach/campaigns": "q",
    "/outreach/imports": "q",
    "/holds/": "q",
    "/retention/": "q",
}


def _page(client: FlaskClient, path: str) -> BeautifulSoup:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return BeautifulSoup(answer.text, "html.parser")


def _rows(page: BeautifulSoup) -> set[str]:
    return {str(row["id"]) for row in page.select("#executions tbody tr")}


@pytest.fixture
def rules(sqlite_engine: Engine) -> dict[str, Rule]:
    """Return two rules, each with a failed and a waiting execution."""
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        here = factories.congregation(session)
        factories.booking(session, here, guest_name="Anna Berg")
        found = {}
        for name in ("24h reminder", "Thanks"):
            rule = found[name] = factories.rule(session, here, name=name)
            failed = {"state": ExecutionState.FAILED, "settled_at": factories.NOW}
            factories.execution(session, rule, **failed, error=f"No {name}")
            factories.execution(session, rule)
        return found


def test_a_search_by_fields_narrows_the_list_and_each_chip_takes_one_away(
    as_viewer: FlaskClient, rules: dict[str, Rule]
) -> None:
    typed = 'state:failed rule:"24h reminder" guest:anna -error:lost berg'
    page = _page(as_viewer, f"/executions/?q={quote(typed)}")
    assert len(_rows(page)) == 1
    chips = {" ".join(chip.text.split()): chip["href"] for chip in page.select(".chip")}
    assert [name.removesuffix(" Remove") for name in chips] == [
        "rule: 24h reminder",
        "guest: anna",
        "not error: lost",
        "text: berg",
    ]
    box = page.select_one("input[name=q]")
    assert box is not None
    assert box["value"] == 'rule:"24h reminder" guest:anna -error:lost berg'
    tab = page.select_one("#executions-tabs [aria-current]")
    assert tab is not None
    assert "Failed" in tab.text
    for href in chips.values():
        fewer = _page(as_viewer, str(href))
        assert len(fewer.select(".chip")) == 3
        assert len(_rows(fewer)) == 1 + ("reminder" not in str(href))


def test_what_forms_and_searches_say_is_the_same(
    as_viewer: FlaskClient, rules: dict[str, Rule]
) -> None:
    thanks = rules["Thanks"]
    by_form = _page(as_viewer, f"/executions/?rule={thanks.id}&state=failed")
    by_search = _page(as_viewer, "/executions/?q=rule:thanks+state:failed")
    assert _rows(by_form) == _rows(by_search) != set()
    (chip,) = by_form.select(".chip")
    assert "Thanks" in chip.text


def test_the_tabs_follow_a_search_and_leave_its_state_behind(
    as_viewer: FlaskClient, rules: dict[str, Rule]
) -> None:
    page = _page(as_viewer, "/executions/?q=state:failed+rule:thanks&state=pending")
    links = {tab.text.split()[0]: tab for tab in page.select("#executions-tabs a")}
    assert links["Pending"].text.split()[-1] == "1"
    assert "state%3Afailed" not in str(links["Pending"]["href"])
    assert len(_rows(_page(as_viewer, str(links["Pending"]["href"])))) == 1


def test_a_search_reaches_verbs_on_all_that_match(
    as_operator: Browser, rules: dict[str, Rule], sqlite_engine: Engine
) -> None:
    path = "/executions/retry-all?q=error:thanks"
    page = _page(as_operator, path)
    assert "1 failed execution" in page.text
    form = page.select_one("form[action*=retry-all]")
    assert isinstance(form, Tag)
    data = {str(f["name"]): str(f.get("value", "")) for f in form.select("[name]")}
    as_operator.post(path, data=data)
    with Session(sqlite_engine) as session:
        assert session.query(Operation).count() == 0  # few are done at once
    left = _page(as_operator, "/executions/?state=failed")
    assert len(_rows(left)) == 1
    assert as_operator.get("/executions/retry-all?q=nofield:x").status_code == 400


def test_what_cannot_be_read_stays_in_the_box_with_a_sentence(
    as_admin: FlaskClient, rules: dict[str, Rule]
) -> None:
    for path, box in LISTS.items():
        answer = as_admin.get(f"{path}?{box}=nofield:%3Cb%3E&_external=1&endpoint=x")
        assert answer.status_code == 422, path
        page = BeautifulSoup(answer.text, "html.parser")
        field = page.select_one(f"input[name={box}]")
        assert field is not None
        assert field["value"] == "nofield:<b>"
        assert "There is no field “nofield” here" in page.text
        fine = as_admin.get(f"{path}?{box}=&_external=1&endpoint=x&state=&_anchor=a")
        assert fine.status_code == 200, path


def test_every_field_of_every_list_can_be_asked_for_without_failing(
    as_admin: FlaskClient, rules: dict[str, Rule]
) -> None:
    alone = [name for name, of in SEARCHED.items() if not of.place]
    for name, path in zip(alone, LISTS, strict=True):
        page = _page(as_admin, f"/search/{name}")
        examples = [str(link["href"]) for link in page.select("#fields a")]
        assert len(examples) >= 5
        for href in examples:
            assert href.startswith(path)
            assert as_admin.get(href).status_code == 200, href
    assert as_admin.get("/search/nothing").status_code == 404
    assert as_admin.get("/search/nothing/options").status_code == 404


def test_a_search_that_is_typed_is_completed(
    as_viewer: FlaskClient,
    rules: dict[str, Rule],
    sqlite_engine: Engine,
    log_in: Callable[..., Browser],
) -> None:
    def offered(client: FlaskClient, typed: str) -> list[str]:
        answer = client.get(
            f"/search/executions/options?q={quote(typed)}",
            headers={"HX-Request": "true"},
        )
        page = BeautifulSoup(answer.text, "html.parser")
        return [str(option["value"]) for option in page.select("option")]

    assert offered(as_viewer, "")[:2] == ["state:", "rule:"]
    assert offered(as_viewer, "anna st") == ["anna state:"]
    assert offered(as_viewer, "anna -state:f") == ["anna -state:failed"]
    assert offered(as_viewer, "state:failed rule:24") == [
        'state:failed rule:"24h reminder"'
    ]
    assert offered(as_viewer, 'rule:"24h re') == ['rule:"24h reminder"']
    assert offered(as_viewer, "made:")[0] == "made:>-24h"
    assert offered(as_viewer, "anna ")[0] == "anna state:"
    assert offered(as_viewer, 'x:"\x00') == []
    stranger = log_in("viewer", email="new@example.org", sees_all=False)
    assert offered(stranger, "rule:") == []


def test_lanes_and_kinds_are_completed_where_they_are_words_of_ours(
    as_viewer: FlaskClient,
) -> None:
    for path, typed, offered in (
        ("operations", "lane:sched", "lane:scheduled_jobs"),
        ("runs", "-lane:feed", "-lane:feeds"),
        ("audit", "about:exec", "about:execution"),
        ("mails", "category:terr", "category:territory"),
        ("members", "state:an", "state:anonymised"),
    ):
        page = as_viewer.get(f"/search/{path}/options?q={typed}").text
        assert f'value="{offered}"' in page, typed


def test_the_state_of_a_member_is_a_tab_and_old_addresses_are_searches(
    as_viewer: FlaskClient,
) -> None:
    page = _page(as_viewer, "/members/?q=state:left+brandt")
    tab = page.select_one(".tabs [aria-current]")
    assert tab is not None
    assert tab.text == "Left"
    box = page.select_one("input[name=q]")
    assert box is not None
    assert box["value"] == "brandt"
    old = _page(as_viewer, "/outreach/?campaign=Spring&agent=sales@")
    assert [" ".join(chip.text.split()) for chip in old.select(".chip")] == [
        "agent: sales@ Remove",
        "campaign: Spring Remove",
    ]


def test_a_search_costs_no_more_for_more_rows(
    as_viewer: FlaskClient, rules: dict[str, Rule], sqlite_engine: Engine
) -> None:
    path = "/executions/?q=rule:thanks+guest:anna+-error:x"
    as_viewer.get(path)
    with statements() as few:
        as_viewer.get(path)
    with Session(sqlite_engine) as session, session.begin():
        for _ in range(20):
            factories.execution(session, rules["Thanks"])
    with statements() as many:
        as_viewer.get(path)
    assert len(few) == len(many) < 20


@pytest.mark.parametrize(
    "path",
    ["/outreach/", "/outreach/contacts", "/suppressions/", "/audit/", "/operations/"],
)
def test_lists_cost_no_more_for_more_rows(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine, path: str
) -> None:
    def cost(n: int) -> int:
        with Session(sqlite_engine) as session, session.begin():
            for _ in range(n):
                address = f"{new_id()}@example.org"
                engagement(session, congregation.id, address)
                reason = SuppressionReason.ASKED
                suppress(session, congregation.id, address, reason, SYSTEM)
                operation = {"kind": "cancel_jobs", "matching": {}, "n_total": 3}
                at = {"high_water": factories.NOW, "touched_at": factories.NOW}
                of = {"congregation_id": congregation.id, "actor": "ada"}
                session.add(Operation(**operation, **at, **of))
        with statements() as seen:
            assert as_operator.get(f"{path}?q=congregation:st-mary").status_code == 200
        return len(seen)

    cost(1)
    assert cost(1) == cost(12) < 20


@pytest.mark.parametrize(
    "search", ["guest:anna", "anna", "error:no", "due:<now", "-guest:zoe"]
)
def test_who_sees_one_congregation_finds_there_what_others_find(
    log_in: Callable[..., Browser], sqlite_engine: Engine, search: str
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        of = factories.congregation(session, "here")
        # Each names a guest and no episode, and a guest of another one's is no hers.
        for each in (of, factories.congregation(session, "other")):
            factories.booking(session, each, guest_name="Anna Berg")
            rule = factories.rule(session, each)
            failed = {"state": ExecutionState.FAILED, "settled_at": factories.NOW}
            factories.execution(session, rule, **failed, error="No mailbox")
    own = log_in("viewer", sees_all=False, congregations=[of])
    every = log_in("viewer", email="every@example.org")
    path = f"/executions/?q={quote(search)}"
    assert len(_rows(_page(every, path))) == 2
    assert len(_rows(_page(own, path))) == 1


@pytest.mark.parametrize("path", ["/executions/", "/webhooks/deliveries"])
def test_days_before_any_row_find_what_they_say(
    as_operator: FlaskClient, sqlite_engine: Engine, path: str
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, factories.congregation(session))
        execution = factories.execution(session, rule, recipient="anna@example.org")
        shown = str(execution.id)
    is_execution = path == "/executions/"
    for since in (
        "q=made:>=1970-01-01[Europe/Paris]",
        "q=made:>=1970-01-01T00:00%2B14:00",
        "q=made:>-9999w",
        "since=0001-01-01T00:00",
    ):
        assert (shown in as_operator.get(f"{path}?{since}").text) is is_execution
    for until in ("q=made:<1970-01-01[Asia/Tokyo]", "until=1969-12-31T23:59"):
        answer = as_operator.get(f"{path}?{until}")
        assert (answer.status_code, shown in answer.text) == (200, False)


def test_a_day_that_the_own_clock_does_not_have_is_refused(
    log_in: Callable[..., Browser], sqlite_engine: Engine
) -> None:
    browser = log_in("operator")
    with Session(sqlite_engine) as session, session.begin():
        session.execute(update(Operator).values(timezone="Asia/Tokyo"))
    answer = browser.get("/executions/?until=9999-12-31T23:59%2B00:00")
    assert answer.status_code == 400
    assert "must look like" in answer.text


def test_what_is_pasted_keeps_its_words_apart(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        house = factories.congregation(session)
        factories.booking(session, house, guest_name="Anna Berg")
        rule = factories.rule(session, house)
        shown = str(factories.execution(session, rule, booking_id="b1").id)
    for between in ("%09", "%C2%A0", "%0D%0A"):
        assert shown in as_operator.get(f"/executions/?q=anna{between}berg").text


@pytest.mark.parametrize("path", ["/executions/", "/rules/"])
def test_no_link_of_a_long_search_is_refused(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine, path: str
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.execute(update(Operator).values(timezone="Pacific/Auckland"))
    typed = 'made:<2026-12-01 a"' + 'a"' * 240
    assert len(typed) < 500
    page = _page(as_operator, f"{path}?q={quote(typed)}")
    box = page.select_one("#q")
    assert box is not None
    assert 500 < len(str(box["value"])) <= int(str(box["maxlength"]))
    links = {str(link["href"]) for link in page.select("main a[href*='%5C']")}
    (new,) = (link for link in links if link.startswith("/views/"))
    assert len(links) >= 2, "a chip, and the view"
    for link in links:
        assert as_operator.get(link).status_code == 200, link
    saved = as_operator.post(new, data={"name": "Long", "audience": "me"})
    assert saved.status_code == 303
    kept = saved.headers["Location"]
    assert "Auckland" in kept
    assert as_operator.get(kept).status_code == 200


def test_a_long_text_is_looked_for_to_its_end(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, factories.congregation(session))
        row = factories.execution(session, rule, recipient=f"{'a' * 210}@b.example")
        shown = str(row.id)
    assert shown in as_operator.get(f"/executions/?q={'a' * 210}").text
    assert shown not in as_operator.get(f"/executions/?q={'a' * 200}c").text
