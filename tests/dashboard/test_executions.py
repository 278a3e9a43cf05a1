"""The pages of executions: lists that hold still, and buttons that act once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Congregation,
    Execution,
    ExecutionMessage,
    ExecutionState,
    Podcast,
    Reason,
    Rule,
    new_id,
)
from tests.support import factories
from tests.support.statements import statements

S = ExecutionState
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}"
FAILED: dict[str, Any] = {
    "state": S.FAILED,
    "attempt": 5,
    "failures": 5,
    "reason": Reason.ATTEMPTS_USED_UP,
    "error": "The mail server said no.",
}


@pytest.fixture
def rule(sqlite_engine: Engine) -> Rule:
    """Return a rule of the congregation ``bonifatius``, with a booking ``b1``."""
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        of = factories.congregation(session)
        factories.booking(session, of)
        return factories.rule(session, of)


@pytest.fixture
def add(sqlite_engine: Engine, rule: Rule) -> Callable[..., UUID]:
    """Return a function that adds an execution of the rule, made some seconds ago."""

    def make(ago: float = 60, of: Rule = rule, **values: Any) -> UUID:
        at = utcnow() - timedelta(seconds=ago)
        instants: dict[str, Any] = {"created_at": at, "due_at": at, "run_at": at}
        if values.get("state", S.PENDING) not in (S.PENDING, S.RUNNING):
            instants["settled_at"] = at
        with Session(sqlite_engine) as session, session.begin():
            return factories.execution(session, of, **instants | values).id

    return make


def _ids(page: str) -> list[str]:
    return re.findall(r'<tr id="execution-([^"]+)"', page)


def _text(page: str, id_: str) -> str:
    found = BeautifulSoup(page, "html.parser").find(id=id_)
    assert found is not None, id_
    return " ".join(found.get_text(" ").split())


def _state(engine: Engine, id_: UUID) -> ExecutionState:
    with Session(engine) as session:
        return session.get_one(Execution, id_).state


def test_a_row_says_what_it_is_about_and_how_it_stands(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    id_ = add(120, recipient="joerg@example.org", **FAILED)
    row = _text(as_viewer.get("/executions/").text, f"execution-{id_}")
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
    assert words in _text(as_viewer.get("/executions/").text, f"execution-{id_}")


def test_a_running_one_says_for_how_long(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    since = utcnow() - timedelta(minutes=2)
    id_ = add(state=S.RUNNING, attempt=1, worker="box:1:ab", claimed_at=since)
    row = _text(as_viewer.get("/executions/").text, f"execution-{id_}")
    assert "for 2 min" in row
    page = as_viewer.get(f"/executions/{id_}").text
    under_way = _text(page, "attempt-1")
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
        ({"podcast": "zwei"}, mine),
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
        assert _ids(page) == [str(expected)], query
    counts = _text(as_viewer.get("/executions/?q=b9").text, "executions-tabs")
    assert "Pending 1" in counts
    assert "Failed 0" in counts


@pytest.mark.parametrize(
    "query",
    ["state=broken", "rule=1", "event=x", "since=yesterday", "within=elsewhere"],
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
        assert _ids(answer.text) == []


def test_pages_hold_still_while_rows_are_added(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    ids = [str(add(1_000 - n)) for n in range(60)][::-1]
    first = as_viewer.get("/executions/").text
    assert _ids(first) == ids[:50]
    following = BeautifulSoup(first, "html.parser").find("a", rel="next")
    assert following is not None
    add(1)
    second = as_viewer.get(str(following["href"])).text
    assert _ids(second) == ids[50:]
    previous = BeautifulSoup(second, "html.parser").find("a", rel="prev")
    assert previous is not None
    assert _ids(as_viewer.get(str(previous["href"])).text) == ids[:50]


def test_what_waits_is_listed_soonest_first(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    later = add(10, run_at=utcnow() + timedelta(hours=2))
    sooner = add(20, run_at=utcnow() + timedelta(hours=1))
    page = as_viewer.get("/executions/?state=pending").text
    assert _ids(page) == [str(sooner), str(later)]


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
        assert len(_ids(as_viewer.get("/executions/").text)) == 50
    assert len(fifty) == len(one)
    assert len(one) < 18


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
    assert _ids(as_viewer.get(str(live["hx-get"])).text) == []
    with Session(sqlite_engine) as session, session.begin():
        row = session.get_one(Execution, changing)
        row.state, row.settled_at = S.SUCCEEDED, utcnow()
    answer = as_viewer.get(str(live["hx-get"])).text
    assert _ids(answer) == [str(changing)]
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
    assert _ids(answer) == []


def test_rows_that_are_not_ours_to_ask_for_are_refused(as_viewer: FlaskClient) -> None:
    assert as_viewer.get("/executions/live?row=nonsense").status_code == 400


def test_one_press_retries_once(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add(**FAILED)
    for sentence in ("Queued for another try.", "It is queued already."):
        answer = as_operator.post(f"/executions/{id_}/retry", follow_redirects=True)
        assert sentence in answer.text
    assert _state(sqlite_engine, id_) == S.PENDING


def test_a_button_leads_back_to_the_list_that_it_stood_in(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    id_ = add(**FAILED)
    for referrer, target in (
        ("http://localhost/executions/?state=failed", "/executions/?state=failed"),
        ("http://evil.example/executions/", f"/executions/{id_}"),
        ("http://localhost//evil.example/", f"/executions/{id_}"),
        (None, f"/executions/{id_}"),
    ):
        headers = {"Referer": referrer} if referrer else {}
        answer = as_operator.post(f"/executions/{id_}/retry", headers=headers)
        assert (answer.status_code, answer.location) == (303, target)


def test_selected_ones_are_asked_about_then_retried(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    failed, kept = [add(n, **FAILED) for n in (10, 20)], add(30, **FAILED)
    done = add(40, state=S.SUCCEEDED)
    data: dict[str, Any] = {"id": [str(id_) for id_ in (*failed, done)]}
    question = as_operator.post("/executions/retry?state=failed", data=data)
    assert "Retry 2 executions?" in question.text
    assert "1 of those you selected cannot be retried" in question.text
    assert _state(sqlite_engine, failed[0]) == S.FAILED
    answer = as_operator.post(
        "/executions/retry?state=failed", data=data | {"confirmed": "yes"}
    )
    assert answer.location == "/executions/?state=failed"
    page = as_operator.get(answer.location).text
    assert "2 queued for another try. 1 skipped" in page
    assert {_state(sqlite_engine, id_) for id_ in failed} == {S.PENDING}
    assert _state(sqlite_engine, kept) == S.FAILED


@pytest.mark.parametrize("data", [{}, {"id": []}])
def test_an_empty_selection_is_told_what_to_do(
    as_operator: FlaskClient, data: dict[str, Any]
) -> None:
    answer = as_operator.post("/executions/retry", data=data, follow_redirects=True)
    assert "Tick at least one row first." in answer.text


def test_all_that_match_are_counted_then_retried(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    ids = [add(n, booking_id="b7", **FAILED) for n in range(3)]
    other = add(9, booking_id="b8", **FAILED)
    page = as_operator.get("/executions/?q=b7").text
    assert "Retry all 3 that failed and match" in " ".join(page.split())
    question = as_operator.get("/executions/retry-all?q=b7").text
    assert "Retry 3 executions?" in question
    found = re.search(r'name="high_water" value="([^"]+)"', question)
    asked = re.search(r'name="operation" value="([^"]+)"', question)
    assert found
    assert asked
    late = add(0, booking_id="b7", **FAILED | {"settled_at": utcnow()})
    data = {"high_water": found[1], "operation": asked[1]}
    as_operator.post("/executions/retry-all?q=b7", data=data)
    assert {_state(sqlite_engine, id_) for id_ in ids} == {S.PENDING}
    assert _state(sqlite_engine, other) == S.FAILED
    assert _state(sqlite_engine, late) == S.FAILED


@pytest.mark.parametrize(
    "high_water", ["", "never", "2026-01-01T00:00", "9999-01-01T00:00:00+00:00"]
)
def test_nothing_is_retried_that_was_not_confirmed(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    high_water: str,
) -> None:
    id_ = add(**FAILED)
    data = {"high_water": high_water, "operation": str(uuid4())}
    answer = as_operator.post("/executions/retry-all", data=data)
    assert answer.status_code == 400
    assert _state(sqlite_engine, id_) == S.FAILED


def test_cancelling_stops_what_waits_and_nothing_else(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    waiting, running = add(), add(state=S.RUNNING, attempt=1)
    answer = as_operator.post(f"/executions/{waiting}/cancel", follow_redirects=True)
    assert "Nothing is sent for it" in answer.text
    assert _state(sqlite_engine, waiting) == S.CANCELLED
    answer = as_operator.post(f"/executions/{running}/cancel", follow_redirects=True)
    assert "cannot be called back" in answer.text
    assert _state(sqlite_engine, running) == S.RUNNING


def test_the_page_tells_the_whole_story(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    id_ = add(context={"guest": {"name": "Jörg"}, "tags": [1]}, **FAILED)
    of, at = rule.congregation_id, utcnow()
    with Session(sqlite_engine) as session, session.begin():
        for number, outcome in enumerate(
            (AttemptOutcome.UNKNOWN, AttemptOutcome.FAILED), 1
        ):
            session.add(
                Attempt(
                    congregation_id=of,
                    execution_id=id_,
                    number=number,
                    worker="box:1:ab",
                    started_at=at,
                    effect_started_at=at if number == 1 else None,
                    finished_at=at + timedelta(seconds=3),
                    outcome=outcome,
                    status_code=550,
                    error="Mailbox full.",
                    response="550 5.2.2",
                )
            )
        message = {"to": "joerg@example.org", "subject": "Hallo", "text": "Bis bald"}
        session.add(
            ExecutionMessage(
                congregation_id=of,
                execution_id=id_,
                message={**message, "html": "<p>Bis bald</p>"},
                composed_at=at,
            )
        )
    as_operator.post(f"/executions/{id_}/retry")
    page = as_operator.get(f"/executions/{id_}").text
    first = _text(page, "attempt-1")
    assert "Unknown" in first
    assert "Sending began 0 ms after the start" in first
    assert "took 3 s" in first
    assert "answer 550" in first
    assert "Nothing left the house" in _text(page, "attempt-2")
    assert "Bis bald" in _text(page, "execution-message")
    assert "Queued 1 execution for another try." in page
    assert '/versions?a=1">version 1<' in page


def test_the_frame_shows_the_mail_and_can_do_nothing(
    as_viewer: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    id_ = add()
    assert as_viewer.get(f"/executions/{id_}/html").status_code == 404
    with Session(sqlite_engine) as session, session.begin():
        session.add(
            ExecutionMessage(
                congregation_id=rule.congregation_id,
                execution_id=id_,
                message={"html": HOSTILE},
                composed_at=utcnow(),
            )
        )
    answer = as_viewer.get(f"/executions/{id_}/html")
    assert answer.text == HOSTILE
    assert answer.headers["Content-Security-Policy"].startswith("sandbox;")


def test_hostile_words_stay_words(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.get_one(Rule, rule.id).name = HOSTILE
        factories.booking(session, rule.congregation_id, id="h", guest_name=HOSTILE)
        session.get_one(Congregation, rule.congregation_id).name = HOSTILE
    values = FAILED | {"error": HOSTILE, "recipient": HOSTILE, "booking_id": "h"}
    id_ = add(context={HOSTILE: {HOSTILE: HOSTILE}}, **values)
    with Session(sqlite_engine) as session, session.begin():
        session.add(
            ExecutionMessage(
                congregation_id=rule.congregation_id,
                execution_id=id_,
                message={"subject": HOSTILE, "text": HOSTILE, "body": {"x": HOSTILE}},
                composed_at=utcnow(),
            )
        )
    for path in (
        "/executions/",
        f"/executions/{id_}",
        "/executions/?q=" + "%3Cscript%3Ealert(1)",
    ):
        page = as_operator.get(path).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "49" not in page or "{{7*7}}" in page


def test_a_viewer_looks_but_does_not_act(
    as_viewer: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add(**FAILED)
    page = as_viewer.get(f"/executions/{id_}").text
    assert "Your role may look, not act." in page
    for path in (f"{id_}/retry", f"{id_}/cancel", "retry", "retry-all"):
        answer = as_viewer.post(f"/executions/{path}", data={"id": [str(id_)]})
        assert answer.status_code == 403
    assert as_viewer.get("/executions/retry-all").status_code == 403
    assert _state(sqlite_engine, id_) == S.FAILED


def test_another_congregations_executions_do_not_exist(
    log_in: Callable[..., FlaskClient],
    congregation: Congregation,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
) -> None:
    id_ = add(**FAILED)
    stranger = log_in("operator", sees_all=False, congregations=[congregation.id])
    for path in (f"/executions/{id_}", f"/executions/{id_}/html"):
        assert stranger.get(path).status_code == 404
    for path in (f"/executions/{id_}/retry", f"/executions/{id_}/cancel"):
        assert stranger.post(path).status_code == 404
    page = stranger.get("/executions/").text
    assert "No executions yet" in page
    assert "Failed 0" in _text(page, "executions-tabs")
    assert "St. Bonifatius" not in page
    assert stranger.get("/executions/?within=bonifatius").status_code == 400
    assert _ids(stranger.get(f"/executions/live?row={id_}.x").text) == []
    data = {"id": [str(id_)], "confirmed": "yes"}
    stranger.post("/executions/retry", data=data)
    data = {"high_water": utcnow().isoformat(), "confirmed": "yes"}
    stranger.post("/executions/retry-all", data=data)
    assert _state(sqlite_engine, id_) == S.FAILED
    with Session(sqlite_engine) as session:
        assert len(session.scalars(select(Execution)).all()) == 1


def test_a_lane_to_start_is_called_by_its_title_and_found_by_its_name(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    started = add(action="start_lane", recipient="contact_due")
    add(action="start_lane", recipient="janitor")
    page = as_operator.get("/executions/?q=lane:contact_due").get_data(as_text=True)
    assert _ids(page) == [str(started)]
    row = BeautifulSoup(page, "html.parser").select_one(f"#execution-{started} .to")
    assert row is not None
    assert "Contact due" in row.get_text()
