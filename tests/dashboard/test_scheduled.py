"""The pages of scheduled jobs: what comes next, calling it off, running it now."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import (
    Congregation,
    JobContext,
    JobState,
    Reason,
    Rule,
    ScheduledJob,
    new_id,
)
from tests.support import factories
from tests.support.statements import statements

S = JobState
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


@pytest.fixture
def rule(sqlite_engine: Engine) -> Rule:
    """Return a reminder of the congregation ``bonifatius``, with a booking ``b1``."""
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        of = factories.congregation(session)
        factories.booking(session, of)
        return factories.reminder(session, of)


@pytest.fixture
def add(sqlite_engine: Engine, rule: Rule) -> Callable[..., UUID]:
    """Return a function that adds a job of the rule, due in some hours."""

    def make(hours: float = 2, **values: Any) -> UUID:
        at = utcnow() + timedelta(hours=hours, minutes=1)
        instants: dict[str, Any] = {"due_at": at, "run_at": at, "created_at": utcnow()}
        if values.get("state", S.PENDING) is not S.PENDING:
            instants["settled_at"] = utcnow()
        with Session(sqlite_engine) as session, session.begin():
            return factories.job(session, rule, **instants | values).id

    return make


def _ids(page: str) -> list[str]:
    return re.findall(r'<tr id="job-([^"]+)"', page)


def _text(page: str, id_: str) -> str:
    found = BeautifulSoup(page, "html.parser").find(id=id_)
    assert found is not None, id_
    return " ".join(found.get_text(" ").split())


def _job(engine: Engine, id_: UUID) -> ScheduledJob:
    with Session(engine) as session:
        return session.get_one(ScheduledJob, id_)


def test_what_comes_next_stands_first(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    later, sooner = add(5), add(2)
    gone = add(1, state=S.SKIPPED, reason=Reason.OFFSET_IN_PAST)
    page = as_viewer.get("/scheduled/").text
    assert _ids(page) == [str(sooner), str(later)]
    row = _text(page, f"job-{sooner}")
    for piece in ("Pending", "24 h reminder", "Jörg 🎙 · Kirchplatz", "due in 2 h"):
        assert piece in row
    everything = as_viewer.get("/scheduled/?state=all").text
    assert _ids(everything) == [str(later), str(sooner), str(gone)]
    assert "had already passed" in _text(everything, f"job-{gone}")
    assert _ids(as_viewer.get("/scheduled/?state=skipped").text) == [str(gone)]


def test_filters_narrow_the_list_and_its_counts(
    as_viewer: FlaskClient, add: Callable[..., UUID], rule: Rule
) -> None:
    soon, far = add(1, booking_id="b9"), add(50, booking_id="b8")
    middle = (utcnow() + timedelta(hours=9)).isoformat()
    for query, expected in (
        ({"booking": "b9"}, [soon]),
        ({"q": "B8"}, [far]),
        ({"until": middle}, [soon]),
        ({"since": middle}, [far]),
        ({"rule": str(rule.id)}, [soon, far]),
        ({"rule": str(new_id())}, []),
        ({"podcast": "bonifatius/show", "within": "bonifatius"}, [soon, far]),
        ({"late": "1"}, []),
    ):
        page = as_viewer.get("/scheduled/", query_string=query).text
        assert _ids(page) == [str(id_) for id_ in expected], query
    tabs = _text(as_viewer.get("/scheduled/?q=b8").text, "scheduled-tabs")
    assert "Pending 1" in tabs


@pytest.mark.parametrize("query", ["state=failed", "rule=1", "until=x", "podcast=y"])
def test_a_filter_that_cannot_be_read_is_refused_in_words(
    as_viewer: FlaskClient, query: str
) -> None:
    answer = as_viewer.get(f"/scheduled/?{query}")
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("podcast=there/show&within=bonifatius", "belongs to another congregation"),
        ("podcast=there/show", "not of the congregation that is chosen"),
        ("within=there", "not the congregation that is chosen"),
    ],
)
def test_a_place_that_fits_nothing_is_told_above_the_list(
    as_viewer: FlaskClient, add: Callable[..., UUID], query: str, told: str
) -> None:
    add()
    answer = as_viewer.get(f"/scheduled/?{query}")
    assert answer.status_code == 200
    assert "Nothing matches" in answer.text
    (wrong,) = BeautifulSoup(answer.text, "html.parser").select(".field-error")
    assert told in wrong.get_text()


def test_empty_lists_say_why(as_viewer: FlaskClient, add: Callable[..., UUID]) -> None:
    assert "Nothing is scheduled" in as_viewer.get("/scheduled/").text
    add()
    assert "Nothing matches" in as_viewer.get("/scheduled/?q=nobody").text
    assert "No job is missed" in as_viewer.get("/scheduled/?state=missed").text


def test_pages_hold_still_while_jobs_are_added(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    ids = [str(add(n)) for n in range(1, 61)]
    first = as_viewer.get("/scheduled/").text
    assert _ids(first) == ids[:50]
    following = BeautifulSoup(first, "html.parser").find("a", rel="next")
    assert following is not None
    add(0.5)
    assert _ids(as_viewer.get(str(following["href"])).text) == ids[50:]


def test_fifty_rows_cost_as_many_queries_as_one(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    add()
    with statements() as one:
        as_viewer.get("/scheduled/?state=all")
    for n in range(49):
        add(n, state=list(S)[n % 6])
    with statements() as fifty:
        assert len(_ids(as_viewer.get("/scheduled/?state=all").text)) == 50
    assert len(fifty) == len(one)


def test_the_fragment_is_a_part_of_the_page(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    id_ = add()
    for path in ("/scheduled/", f"/scheduled/{id_}"):
        page = as_viewer.get(path)
        part = as_viewer.get(path, headers={"HX-Request": "true"})
        assert "<html" not in part.text
        assert part.text.strip() in page.text


def test_only_rows_that_changed_come_again(
    as_viewer: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add(0)
    add(3)
    page = BeautifulSoup(as_viewer.get("/scheduled/").text, "html.parser")
    live = page.find(id="scheduled-live")
    assert live is not None
    assert live["hx-trigger"] == "every 2s"
    assert _ids(as_viewer.get(str(live["hx-get"])).text) == []
    with Session(sqlite_engine) as session, session.begin():
        row = session.get_one(ScheduledJob, id_)
        row.state, row.settled_at = S.DISPATCHED, utcnow()
    assert _ids(as_viewer.get(str(live["hx-get"])).text) == [str(id_)]


def test_an_open_page_is_left_alone_until_something_changes(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    id_ = add()
    page = BeautifulSoup(as_operator.get(f"/scheduled/{id_}").text, "html.parser")
    part = page.find(id="job-detail")
    assert part is not None
    address, htmx = str(part["hx-get"]), {"HX-Request": "true"}
    assert as_operator.get(address, headers=htmx).status_code == 204
    as_operator.post(f"/scheduled/{id_}/cancel")
    changed = as_operator.get(address, headers=htmx)
    assert "Cancelled" in changed.text
    assert "hx-get" not in changed.text


def test_run_now_acts_once_and_says_so(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add(9)
    due_at = _job(sqlite_engine, id_).due_at
    for sentence in ("Its time is now", "Its time has come already"):
        answer = as_operator.post(f"/scheduled/{id_}/run-now", follow_redirects=True)
        assert sentence in answer.text
    job = _job(sqlite_engine, id_)
    assert job.run_at <= utcnow()
    assert (job.due_at, job.state) == (due_at, S.PENDING)


def test_one_job_is_cancelled_and_says_by_whom(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add()
    for sentence in ("It will not happen; Undo", "It was cancelled already."):
        answer = as_operator.post(f"/scheduled/{id_}/cancel", follow_redirects=True)
        assert sentence in answer.text
    assert _job(sqlite_engine, id_).reason == Reason.OPERATOR
    page = as_operator.get(f"/scheduled/{id_}").text
    assert "An operator stopped it." in page
    assert "operator@example.org" in page
    answer = as_operator.post(f"/scheduled/{id_}/run-now", follow_redirects=True)
    assert "It is cancelled already." in answer.text


def test_a_cancelling_is_taken_back_while_it_is_fresh(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add()
    assert "Undo" not in as_operator.get(f"/scheduled/{id_}").get_data(as_text=True)
    as_operator.post(f"/scheduled/{id_}/cancel")
    assert "Undo" in as_operator.get(f"/scheduled/{id_}").get_data(as_text=True)
    answer = as_operator.post(f"/scheduled/{id_}/undo", follow_redirects=True)
    assert "planned anew" in answer.get_data(as_text=True), "nobody told of that date"
    again = as_operator.post(f"/scheduled/{id_}/undo", follow_redirects=True)
    assert "can be taken back by hand" in again.get_data(as_text=True)


def test_selected_jobs_are_asked_about_then_cancelled(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    ids, kept, gone = [add(1), add(2)], add(3), add(4, state=S.DISPATCHED)
    data: dict[str, Any] = {"id": [str(id_) for id_ in (*ids, gone)]}
    question = as_operator.post("/scheduled/cancel", data=data).text
    assert "Cancel 2 scheduled jobs?" in question
    assert _job(sqlite_engine, ids[0]).state == S.PENDING
    answer = as_operator.post(
        "/scheduled/cancel", data=data | {"confirmed": "yes"}, follow_redirects=True
    )
    assert "2 cancelled; they will not happen. 1 skipped" in answer.text
    assert {_job(sqlite_engine, id_).state for id_ in ids} == {S.CANCELLED}
    assert _job(sqlite_engine, kept).state == S.PENDING
    page = as_operator.get(f"/scheduled/{ids[0]}").text
    assert "Cancelled 2 scheduled jobs." in page


def test_all_that_match_are_counted_then_cancelled(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    ids, other = [add(n, booking_id="b7") for n in (1, 2)], add(3)
    question = as_operator.get("/scheduled/cancel-all?booking=b7").text
    assert "Cancel 2 scheduled jobs?" in question
    found = re.search(r'name="high_water" value="([^"]+)"', question)
    asked = re.search(r'name="operation" value="([^"]+)"', question)
    assert found
    assert asked
    late = add(4, booking_id="b7")
    data = {"high_water": found[1], "operation": asked[1]}
    answer = as_operator.post("/scheduled/cancel-all?booking=b7", data=data)
    assert answer.location == "/scheduled/?booking=b7"
    assert {_job(sqlite_engine, id_).state for id_ in ids} == {S.CANCELLED}
    for kept in (other, late):
        assert _job(sqlite_engine, kept).state == S.PENDING


def test_hostile_words_stay_words(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    id_ = add(booking_id="h")
    with Session(sqlite_engine) as session, session.begin():
        session.get_one(Rule, rule.id).name = HOSTILE
        factories.booking(session, rule.congregation_id, id="h", guest_name=HOSTILE)
        session.get_one(JobContext, id_).context = {HOSTILE: [HOSTILE]}
    for path in ("/scheduled/", f"/scheduled/{id_}"):
        page = as_operator.get(path).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_a_viewer_looks_but_does_not_act(
    as_viewer: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add()
    assert "Your role may look, not act." in as_viewer.get(f"/scheduled/{id_}").text
    for path in (f"{id_}/cancel", f"{id_}/run-now", "cancel", "cancel-all"):
        answer = as_viewer.post(f"/scheduled/{path}", data={"id": [str(id_)]})
        assert answer.status_code == 403
    assert as_viewer.get("/scheduled/cancel-all").status_code == 403
    assert _job(sqlite_engine, id_).state == S.PENDING


def test_another_congregations_jobs_do_not_exist(
    log_in: Callable[..., FlaskClient],
    congregation: Congregation,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
) -> None:
    id_ = add()
    stranger = log_in("operator", sees_all=False, congregations=[congregation.id])
    assert stranger.get(f"/scheduled/{id_}").status_code == 404
    for verb in ("cancel", "run-now"):
        assert stranger.post(f"/scheduled/{id_}/{verb}").status_code == 404
    page = stranger.get("/scheduled/").text
    assert "Nothing is scheduled" in page
    assert "Pending 0" in _text(page, "scheduled-tabs")
    data = {"id": [str(id_)], "confirmed": "yes"}
    stranger.post("/scheduled/cancel", data=data)
    data = {"high_water": utcnow().isoformat(), "confirmed": "yes"}
    stranger.post("/scheduled/cancel-all", data=data)
    assert _job(sqlite_engine, id_).state == S.PENDING
