"""The list of rules: to scan, to narrow, and to duplicate from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from dashboard.rules import queries as rule_queries
from tasks.clock import utcnow
from tasks.db import Begin
from tasks.models import ExecutionState, FailedExecution
from tests.dashboard.rules.conftest import soup, words
from tests.support import factories
from tests.support.failures import note
from tests.support.statements import statements


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
            row = factories.execution(session, rule, state=state, created_at=at)
            if state is not ExecutionState.SUCCEEDED:
                note(session, row, at)
        path = f"/rules/{rule.id}"
        row_id = f"#rule-{rule.id}"

    row = soup(as_operator.get("/rules/")).select_one(row_id)
    assert row is not None
    cells = [" ".join(cell.text.split()) for cell in row.select("td")]
    assert cells[3:6] == ["1", "3 2 failed", "1 h ago"]
    page = as_operator.get(path)
    assert "Failed in 7 days 2" in words(page)
    # What is counted is what the link leads to.
    links = [
        *soup(page).select(".tiles a")[:3],
        soup(page).select_one("[aria-labelledby=fate-heading] dd a"),
        row.select_one("a.failures"),
    ]
    for link, n in zip(links, (1, 3, 2, 3, 2), strict=True):
        assert link is not None
        listed = soup(as_operator.get(str(link["href"])))
        assert len(listed.select("tr[id^=execution-]")) == n, link


def test_what_was_queued_again_counts_as_failed_no_more(begin: Begin) -> None:
    now = utcnow()
    with begin() as session:
        rule = factories.rule(session, factories.congregation(session))
        other = factories.rule(session, rule.congregation_id, name="Quiet")
        failed = [
            factories.execution(
                session,
                rule,
                state=ExecutionState.FAILED,
                created_at=now - timedelta(days=days),
                error=error,
            )
            for days, error in ((2, "Timeout"), (3, "Refused"), (4, "Refused"), (8, ""))
        ]
        for row in failed:
            note(session, row, now)
        session.flush()
        session.get_one(FailedExecution, failed[0].id).retried_at = now
        session.flush()
        found = rule_queries.counts(session, [rule.id, other.id], now)
        assert found == {rule.id: rule_queries.Counts(day=0, week=3, failed=2)}


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
