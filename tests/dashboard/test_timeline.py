"""The whole story of a record, in order, page by page, on both databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.event import listen
from sqlalchemy.orm import Session

from dashboard.congregations.moments import Moment
from dashboard.congregations.places import Place
from dashboard.congregations.records import Names, bookings_of, names_of
from dashboard.congregations.timeline import Timeline, timeline
from tasks.automation.entities import Kind, find_record
from tasks.clock import utcnow
from tasks.db import Begin, CongregationSession, set_scope
from tasks.errors import InvalidInput
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Episode,
    EpisodeGuest,
    Event,
    Execution,
    ExecutionState,
    JobState,
    Reason,
    Rule,
    new_id,
)
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import in_language
from tests.support import factories
from tests.support.factories import NOW
from tests.support.statements import statements

ANNA = Actor("anna@example.org")
MINUTE = timedelta(minutes=1)


def event(session: Session, of: UUID, at: datetime, **values: object) -> Event:
    row = Event(
        congregation_id=of,
        id=new_id(),
        type="booking.confirmed",
        podcast_id="show",
        source="api",
        occurred_at=at,
        created_at=at,
        **{"booking_id": "b1"} | values,
    )
    session.add(row)
    session.flush()
    return row


def attempt(
    session: Session, execution: Execution, number: int, at: datetime, **values: object
) -> None:
    session.add(
        Attempt(
            congregation_id=execution.congregation_id,
            execution_id=execution.id,
            number=number,
            worker="w",
            started_at=at,
            finished_at=at,
            **{"outcome": AttemptOutcome.SUCCEEDED} | values,
        )
    )
    session.flush()


@pytest.fixture
def house(begin: Begin) -> UUID:
    """Return a congregation in which a booking has some past and some future."""
    with begin() as session:
        of = factories.congregation(session)
        about = {"congregation_id": of, "podcast_id": "show"}
        session.add(Episode(**about, id="e1", title="Bells"))
        session.add(EpisodeGuest(**about, id="g1", name="Ada"))
        factories.booking(session, of, episode_id="e1", guest_id="g1")
        rule, reminder = factories.rule(session, of), factories.reminder(session, of)
        told = event(session, of, NOW)
        made = factories.execution(
            session,
            rule,
            event_id=told.id,
            created_at=NOW,
            episode_id="e1",
            guest_id="g1",
            state="succeeded",
        )
        attempt(
            session, made, 1, NOW + MINUTE, outcome=AttemptOutcome.RETRY, error="No"
        )
        attempt(session, made, 2, NOW + 3 * MINUTE)
        subject = Subject("execution", str(made.id), of)
        record(session, ANNA, "execution.retried", subject, "Queued it again.")
        factories.job(
            session,
            reminder,
            state=JobState.CANCELLED,
            reason=Reason.OPERATOR,
            settled_at=NOW + 2 * MINUTE,
        )
        ahead = NOW + timedelta(days=1)
        factories.job(session, reminder, run_at=ahead, due_at=ahead)
        later = NOW + timedelta(days=2)
        factories.execution(session, rule, run_at=later, due_at=later)
        return of


def story(
    session: Session,
    of: UUID,
    kind: Kind = "booking",
    id_: str = "b1",
    cursor: str | None = None,
    limit: int = 50,
) -> Timeline:
    found = find_record(session, kind, of, id_)
    names = names_of(found, bookings_of(session, found))
    return timeline(session, names, cursor, limit)


def kinds(moments: object) -> list[str]:
    assert isinstance(moments, list)
    return [each.kind for each in moments]


def test_a_booking_tells_all_that_was_done_and_all_that_is_planned(
    begin: Begin, house: UUID
) -> None:
    with begin() as session:
        found = story(session, house)
    assert kinds(found.ahead) == ["execution", "job"]
    # The deed was written down by the clock of today, far after the tests' noon.
    assert kinds(found.past) == [
        "deed",
        "attempt",
        "job",
        "attempt",
        "execution",
        "event",
    ]
    assert found.next_cursor is None
    deed, second, job, first = found.past[:4]
    assert (deed.title, deed.note) == ("Queued it again.", "by anna@example.org")
    assert (second.title, second.state) == ("Attempt 2 of Welcome", "succeeded")
    assert (job.state, job.note) == ("cancelled", "An operator stopped it.")
    assert (first.state, first.note) == ("retry", "No")


def test_what_came_of_an_event_stands_above_it_though_ids_know_milliseconds_only(
    begin: Begin, house: UUID
) -> None:
    at = NOW + timedelta(hours=1, microseconds=123_999)
    with begin() as session:
        rule = session.query(Rule).filter_by(name="Welcome").one()
        told = event(session, house, at)
        made = factories.execution(session, rule, state="failed", created_at=at)
        attempt(session, made, 1, at)
    with begin() as session:
        past = story(session, house).past[1:4]
        assert kinds(past) == ["attempt", "execution", "event"]
        assert [each.id for each in past] == [made.id, made.id, told.id]
        pages = [story(session, house, limit=1)]
        for _ in range(3):
            cursor = pages[-1].next_cursor
            pages.append(story(session, house, cursor=cursor, limit=1))
    assert [page.past[0].place for page in pages[1:]] == [each.place for each in past]


@pytest.mark.parametrize("page_size", [1, 2, 4])
def test_pages_give_every_moment_once_and_in_order(
    begin: Begin, house: UUID, page_size: int
) -> None:
    with begin() as session:
        rule = session.query(Rule).filter_by(name="Welcome").one()
        for n in range(5):  # several things at one instant
            event(session, house, NOW)
            made = factories.execution(
                session, rule, state="failed", created_at=NOW - n * MINUTE
            )
            attempt(session, made, 1, NOW)
            attempt(session, made, 2, NOW)
    with begin() as session:
        whole = [each.place for each in story(session, house).past]
        paged: list[Moment] = []
        cursor = None
        for _ in range(99):
            page = story(session, house, cursor=cursor, limit=page_size)
            assert len(page.past) <= page_size
            assert not (cursor and page.ahead)
            paged += page.past
            cursor = page.next_cursor
            if cursor is None:
                break
    assert len(whole) == 6 + 20
    assert whole == sorted(whole, reverse=True)
    assert [each.place for each in paged] == whole


def test_an_episode_and_a_guest_tell_of_their_bookings_as_well(
    begin: Begin, house: UUID
) -> None:
    with begin() as session:
        rule = session.query(Rule).filter_by(name="Welcome").one()
        for kind, values in (
            ("episode", {"episode_id": "e1"}),
            ("guest", {"guest_id": "g1"}),
        ):
            own = event(session, house, NOW, booking_id=None, **values)
            factories.execution(
                session,
                rule,
                booking_id=None,
                event_id=own.id,
                state="failed",
                error=f"of the {kind}",
                **values,
            )
    with begin() as session:
        booking = story(session, house)
        for kind, id_ in (("episode", "e1"), ("guest", "g1")):
            found = story(session, house, kind, id_)  # type: ignore[arg-type]
            notes = [each.note for each in found.past]
            assert f"of the {kind}" in notes
            assert len(found.past) == len(booking.past) + 2
            assert kinds(found.ahead) == ["execution", "job"]


def test_a_job_about_an_episode_alone_leads_to_its_execution(
    begin: Begin, house: UUID
) -> None:
    with begin() as session:
        rule = session.query(Rule).filter_by(name="24 h reminder").one()
        session.add(
            Episode(congregation_id=house, id="e2", podcast_id="show", title="Two")
        )
        session.flush()
        about = {"booking_id": None, "episode_id": "e2"}
        made = factories.execution(session, rule, state="succeeded", **about)
        factories.job(session, rule, state="dispatched", execution_id=made.id, **about)
    with begin() as session:
        found = story(session, house, "episode", "e2")
    assert [each.id for each in found.past] == [made.id]


def test_deeds_on_many_rows_at_once_are_told_where_they_name_the_row(
    begin: Begin, house: UUID
) -> None:
    with begin() as session:
        made = session.query(Execution).filter_by(state="succeeded").one()
        for ids, words in (([str(made.id)], "Retried 1."), ([str(new_id())], "Other.")):
            subject = Subject("execution", "many", house)
            record(
                session, ANNA, "execution.retried", subject, words, after={"ids": ids}
            )
        own = Subject("booking", "b1", house)
        record(session, ANNA, "booking.moved", own, "Moved the booking.")
        far = factories.congregation(session, "far")
        twin = Subject("booking", "b1", far)
        record(session, ANNA, "booking.moved", twin, "Moved another one.")
    with begin() as session:
        found = [each.title for each in story(session, house).past]
    assert found[:3] == ["Moved the booking.", "Retried 1.", "Queued it again."]
    assert "Other." not in found
    assert "Moved another one." not in found


def test_a_record_of_the_same_id_in_another_congregation_is_another(
    engine: Engine, begin: Begin, house: UUID
) -> None:
    with begin() as session:
        twin = factories.congregation(session, "twin")
        factories.booking(session, twin)
        event(session, twin, NOW)
    with CongregationSession(engine) as scoped:
        set_scope(scoped, frozenset({twin}))
        assert kinds(story(scoped, twin).past) == ["event"]


def test_the_statements_do_not_grow_with_what_happened(
    begin: Begin, house: UUID
) -> None:
    def cost(kind: Kind, id_: str) -> int:
        with begin() as session, statements() as seen:
            story(session, house, kind, id_)
        return len(seen)

    records: tuple[tuple[Kind, str], ...] = (
        ("booking", "b1"),
        ("episode", "e1"),
        ("guest", "g1"),
    )
    few = [cost(*each) for each in records]
    with begin() as session:
        rule = session.query(Rule).filter_by(name="Welcome").one()
        for n in range(30):
            made = factories.execution(session, rule, state="failed")
            attempt(session, made, 1, NOW)
            event(session, house, NOW)
            factories.job(session, rule, due_at=NOW + n * MINUTE)
            factories.booking(
                session, house, id=f"x{n}", episode_id="e1", guest_id="g1"
            )
    assert [cost(*each) for each in records] == few


@pytest.mark.parametrize("kind", ["booking", "episode", "guest"])
def test_no_statement_walks_through_a_whole_congregation(
    sqlite_engine: Engine, kind: Kind
) -> None:
    # SQLite shows its plans without knowing any numbers; it errs where others do, too.
    of = new_id()
    names = Names(of, kind, "x", () if kind == "booking" else ("b1", "b2"))
    plans: list[str] = []

    def explain(
        _: object, cursor: sqlite3.Cursor, sql: str, values: Any, *_rest: object
    ) -> None:
        if sql.startswith("SELECT"):
            rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)
            plans.extend(row[3] for row in rows)

    listen(sqlite_engine, "before_cursor_execute", explain)
    with CongregationSession(sqlite_engine) as session:
        set_scope(session, frozenset({of}))
        timeline(session, names, str(Place(NOW, 0, of)), 50)
        timeline(session, names, None, 50)
    tables = ("events", "executions", "scheduled_jobs", "attempts", "audit_entries")
    steps = [plan for plan in plans if set(plan.split()) & set(tables)]
    assert len(steps) > 10
    for plan in steps:
        assert plan.startswith("SEARCH"), plan
        assert (
            "_id=? AND" in plan
            or "(id=?" in plan
            or "event_id=?" in plan
            or ("execution_id=?" in plan or "subject_kind=? AND subject_id=?" in plan)
        ), plan


ID = UUID("019cd79e-4600-7080-8092-e5f58b4de950")


@pytest.mark.parametrize(
    "cursor",
    ["x", "~~~", f"{NOW:%Y-%m-%d}~0~{ID}~0", f"{NOW.isoformat()}~0~z~0"]
    + [f"{NOW.isoformat()}~0~{ID}~{n}" for n in ("-1", "9" * 30)],
)
def test_a_cursor_that_is_none_of_ours_is_refused_in_words(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="go to its start"):
        Place.read(cursor)


def test_the_pages_show_the_story_and_lead_on(
    as_viewer: FlaskClient, sqlite_engine: Engine, log_in: Callable[..., FlaskClient]
) -> None:
    evil = "<script>alert(1)</script>"
    with Session(sqlite_engine) as session, session.begin():
        of = factories.congregation(session)
        about = {"congregation_id": of, "podcast_id": "show"}
        session.add(Episode(**about, id="e1", title=evil, scheduled_for=utcnow()))
        session.add(EpisodeGuest(**about, id="g1", name="Ada", episode_id="e1"))
        factories.booking(session, of, episode_id="e1", guest_id="g1")
        for n in range(60):
            event(session, of, NOW + n * MINUTE, episode_id="e1", guest_id="g1")
    for path in ("bookings/b1", "episodes/e1", "guests/g1"):
        page = as_viewer.get(f"/congregations/bonifatius/{path}").text
        assert page.count('data-kind="event"') == 50
        assert evil not in page
        assert f"/why/bonifatius/{path}" in page
        link = page.split('rel="next" href="')[1].split('"')[0]
        older = as_viewer.get(link.replace("&amp;", "&")).text
        assert older.count('data-kind="event"') == 10
        assert "What happened earlier" in older
        assert "Still to come" not in older
    answer = as_viewer.get("/congregations/bonifatius/episodes/e1?cursor=nonsense")
    assert answer.status_code == 400
    assert "go to its start" in answer.text
    assert as_viewer.get("/congregations/bonifatius/guests/nobody").status_code == 404


def test_every_list_leads_to_the_story_of_whom_it_names(
    as_viewer: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        of = factories.congregation(session)
        about = {"congregation_id": of, "podcast_id": "show"}
        session.add(Episode(**about, id="e1", title="Bells"))
        session.add(EpisodeGuest(**about, id="g1", name="Ada"))
        factories.booking(session, of)
        rule = factories.rule(session, of)
        for values in (
            {"booking_id": "b1"},
            {"booking_id": None, "episode_id": "e1"},
            {"booking_id": None, "guest_id": "g1"},
        ):
            event(session, of, utcnow(), **values)
            factories.execution(session, rule, **values)
            factories.job(session, rule, **values)
    for path in ("/", "/executions/", "/scheduled/", "/events/"):
        page = as_viewer.get(path).text
        for of_record in ("bookings/b1", "episodes/e1", "guests/g1"):
            assert f'href="/congregations/bonifatius/{of_record}"' in page, path


def test_errors_are_told_in_the_language_of_who_reads(
    begin: Begin, house: UUID
) -> None:
    error = "The address answered 503."
    with begin() as session:
        made = session.scalars(select(Execution).order_by(Execution.id)).first()
        assert made is not None
        made.state, made.error = ExecutionState.FAILED, error
        attempt(session, made, 3, NOW + 4 * MINUTE, error=error)
        with in_language("fr"):
            past = story(session, house).past
    notes = {each.kind: each.note for each in reversed(past)}
    said = "L’adresse a répondu 503."
    assert notes["execution"] == said
    assert said in [each.note for each in past if each.kind == "attempt"]
