"""The whole story of a record, in order, page by page, on both databases."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from dashboard.congregations.moments import Moment
from tasks.db import Begin, CongregationSession, set_scope
from tasks.models import Episode, Execution, ExecutionState, Rule, new_id
from tasks.operations.audit import Subject, record
from tasks.saying import in_language
from tests.dashboard.timeline.conftest import ANNA, MINUTE, attempt, event, kinds, story
from tests.support import factories
from tests.support.factories import NOW


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
