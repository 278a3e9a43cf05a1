"""The list of executions: what a row says, and how the list is narrowed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import ExecutionState, Podcast, Reason, Rule, new_id
from tests.dashboard.executions.conftest import FAILED, HOSTILE, S, ids_of, text_of
from tests.support import factories
from tests.support.statements import statements


def test_a_row_says_what_it_is_about_and_how_it_stands(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    id_ = add(120, recipient="joerg@example.org", **FAILED)
    row = text_of(as_viewer.get("/executions/").text, f"execution-{id_}")
    for piece in (
        "Failed",
        "Welcome",
        "Jörg 🎙 · Kirchplatz",
        "The mail server said no.",
        "joerg@example.org",
        "5 /5",
        "2 min ago",
    ):
        assert piece in row
    assert "Retry" not in row


@pytest.mark.parametrize(
    ("state", "instants", "words"),
    [
        (S.PENDING, {"run_at": timedelta(hours=3, minutes=1)}, "due in 3 h"),
        (S.PENDING, {}, "10 min late"),
        (S.SUCCEEDED, {"settled_at": timedelta(minutes=-3.5)}, "6 min late"),
        (S.SKIPPED, {}, "The booking was cancelled."),
    ],
)
def test_each_state_has_its_own_time_and_reason(
    as_viewer: FlaskClient,
    add: Callable[..., UUID],
    state: ExecutionState,
    instants: dict[str, timedelta],
    words: str,
) -> None:
    reason = Reason.BOOKING_CANCELLED if state is S.SKIPPED else None
    values = {name: utcnow() + away for name, away in instants.items()}
    id_ = add(600, state=state, reason=reason, **values)
    assert words in text_of(as_viewer.get("/executions/").text, f"execution-{id_}")


def test_a_running_one_says_for_how_long(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    since = utcnow() - timedelta(minutes=2)
    id_ = add(state=S.RUNNING, attempt=1, worker="box:1:ab", claimed_at=since)
    row = text_of(as_viewer.get("/executions/").text, f"execution-{id_}")
    assert "for 2 min" in row
    page = as_viewer.get(f"/executions/{id_}").text
    under_way = text_of(page, "attempt-1")
    assert "box:1:ab" in under_way
    assert "Nothing left the house" in under_way


def test_empty_lists_say_why(as_viewer: FlaskClient, add: Callable[..., UUID]) -> None:
    assert "No executions yet" in as_viewer.get("/executions/").text
    add()
    assert "Nothing matches" in as_viewer.get("/executions/?q=nobody").text
    assert "No execution is failed" in as_viewer.get("/executions/?state=failed").text


def test_filters_narrow_the_list_and_its_counts(
    as_viewer: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        other = factories.rule(session, rule.congregation_id, name="Other")
        session.add(
            Podcast(congregation_id=rule.congregation_id, id="zwei", title="Zwei")
        )
    event_id = new_id()
    failed = add(30, recipient="ÖRTCHEN@example.org", **FAILED)
    mine = add(3_600, of=other, booking_id="b9", podcast_id="zwei", event_id=event_id)
    since = (utcnow() - timedelta(minutes=5)).isoformat()
    for query, expected in (
        ({"state": "failed"}, failed),
        ({"rule": str(other.id)}, mine),
        ({"podcast": "zwei", "within": "bonifatius"}, mine),
        ({"podcast": "bonifatius/zwei"}, mine),
        ({"booking": "b9"}, mine),
        ({"event": str(event_id)}, mine),
        ({"late": "1"}, mine),
        ({"q": "b9"}, mine),
        ({"q": "tchen@EXAMPLE"}, failed),
        ({"q": "jörg"}, failed),
        ({"since": since}, failed),
        ({"until": since}, mine),
        ({"within": "bonifatius", "state": "pending"}, mine),
    ):
        page = as_viewer.get("/executions/", query_string=query).text
        assert ids_of(page) == [str(expected)], query
    counts = text_of(as_viewer.get("/executions/?q=b9").text, "executions-tabs")
    assert "Pending 1" in counts
    assert "Failed 0" in counts


def test_a_podcast_of_another_congregation_is_never_shown_in_its_place(
    as_viewer: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    here = add(30, podcast_id="show")
    with Session(sqlite_engine) as session, session.begin():
        there = factories.rule(session, factories.congregation(session, "there"))
        theirs = factories.execution(session, there, podcast_id="show").id

    def shown(query: str) -> tuple[list[str], str]:
        answer = as_viewer.get(f"/executions/?{query}")
        assert answer.status_code == 200
        assert as_viewer.get(f"/executions/live?{query}").status_code == 200
        wrong = BeautifulSoup(answer.text, "html.parser").select(".field-error")
        return ids_of(answer.text), " ".join(each.get_text() for each in wrong)

    assert shown("podcast=bonifatius/show") == ([str(here)], "")
    assert shown("podcast=there/show&within=there") == ([str(theirs)], "")
    found, told = shown("podcast=bonifatius/show&within=there")
    assert (found, "belongs to another congregation" in told) == ([], True)
    found, told = shown("within=elsewhere")
    assert (found, "not the congregation that is chosen" in told) == ([], True)
    as_viewer.get("/?congregation=there")
    found, told = shown("podcast=bonifatius/show")
    assert (found, "not of the congregation that is chosen" in told) == ([], True)


def test_what_acts_refuses_a_podcast_of_another_congregation(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    add(podcast_id="show")

    for path in ("/executions/retry-all", "/exports/executions"):
        answer = as_operator.get(f"{path}?podcast=bonifatius/show&within=there")
        assert answer.status_code == 400, path
        assert "is of another congregation than the chosen one" in answer.text


@pytest.mark.parametrize(
    "query",
    ["state=broken", "rule=1", "event=x", "since=yesterday", "podcast=show"],
)
def test_a_filter_that_cannot_be_read_is_refused_in_words(
    as_viewer: FlaskClient, query: str
) -> None:
    answer = as_viewer.get(f"/executions/?{query}")
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


@pytest.mark.parametrize("text", ["%", "_", "\\", "'", "\x00", "é" * 300, HOSTILE])
def test_odd_texts_are_looked_for_as_they_are(
    as_viewer: FlaskClient, add: Callable[..., UUID], text: str
) -> None:
    add()
    answer = as_viewer.get("/executions/", query_string={"q": text})
    assert answer.status_code == 200
    if text != "\x00":
        assert ids_of(answer.text) == []


def test_what_waits_is_listed_soonest_first(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    later = add(10, run_at=utcnow() + timedelta(hours=2))
    sooner = add(20, run_at=utcnow() + timedelta(hours=1))
    page = as_viewer.get("/executions/?state=pending").text
    assert ids_of(page) == [str(sooner), str(later)]


def test_fifty_rows_cost_as_many_queries_as_one(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    add(**FAILED)
    add(1)  # it waits, and says why
    with statements() as one:
        as_viewer.get("/executions/")
    for n in range(48):
        add(100 + n, state=list(S)[n % 7])
    with statements() as fifty:
        assert len(ids_of(as_viewer.get("/executions/").text)) == 50
    assert len(fifty) == len(one)
    assert len(one) <= 18


def test_a_lane_to_start_is_called_by_its_title_and_found_by_its_name(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    started = add(action="start_lane", recipient="contact_due")
    add(action="start_lane", recipient="janitor")
    page = as_operator.get("/executions/?q=lane:contact_due").get_data(as_text=True)
    assert ids_of(page) == [str(started)]
    row = BeautifulSoup(page, "html.parser").select_one(f"#execution-{started} .to")
    assert row is not None
    assert "Contact due" in row.get_text()


def test_tabs_stand_above_the_search_as_on_every_other_list(
    as_viewer: FlaskClient,
) -> None:
    for path in ("/executions/", "/scheduled/", "/failures/", "/members/", "/board/"):
        page = as_viewer.get(path).text
        if 'role="search"' in page:
            assert page.index('class="tabs"') < page.index('role="search"'), path
