"""Why did this not fire?  Asked from a rule, from a record, from the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.congregations import searching
from dashboard.operators.models import Operator
from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.clock import utcnow
from tasks.models import Booking, BookingStatus, Episode, EpisodeGuest, Rule
from tests.support import factories
from tests.support.statements import statements

XSS = "<script>alert(1)</script>"


@pytest.fixture
def session(sqlite_engine: Engine) -> Iterator[Session]:
    with Session(sqlite_engine, expire_on_commit=False) as session:
        yield session


@pytest.fixture
def of(session: Session) -> UUID:
    """Return a congregation with a booking that nothing was ever reported of."""
    id_ = factories.congregation(session)
    factories.booking(
        session,
        id_,
        status=BookingStatus.REQUESTED,
        confirmed_at=None,
        start_time=utcnow() + timedelta(days=3),
    )
    about = {"congregation_id": id_, "podcast_id": "show"}
    session.add(Episode(**about, id="e1", title=XSS))
    session.add(EpisodeGuest(**about, id="g1", name="Ada", email="ada@example.org"))
    session.commit()
    return id_


def add(session: Session, of: UUID, **values: object) -> Rule:
    made = factories.rule(session, of, **values)
    session.commit()
    return made


def words(text: str) -> str:
    return " ".join(BeautifulSoup(text, "html.parser").get_text(" ").split())


def test_a_booking_without_any_event_says_what_is_missing(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    welcome = add(session, of)
    factories.reminder(session, of)
    add(session, of, trigger_type="episode.published", name="Of episodes")
    text = words(as_viewer.get("/why/bonifatius/bookings/b1").text)
    assert "No event was ever reported for this booking ; its status is requested" in (
        text
    )
    assert "No “Booking confirmed” was ever reported for it" in text
    assert "The rule counts from the recording of a confirmed booking" in text
    assert "1 rule waits for what happens to other things than bookings." in text
    assert "Of episodes" not in text
    page = as_viewer.get(f"/why/bonifatius/bookings/b1/{welcome.id}")
    verdict = BeautifulSoup(page.text, "html.parser").select_one("#verdict")
    assert verdict is not None
    assert verdict.get_text().startswith("No “Booking confirmed” was ever reported")


def test_the_step_that_decided_is_marked_among_the_others(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    rule = add(session, of, enabled=False)
    payload = AutomationEvent(
        "booking.confirmed", "show", booking_id="b1", congregation_id=of
    )
    assert emit_automation_event(session, payload).success
    session.commit()
    page = as_viewer.get(f"/why/bonifatius/bookings/b1/{rule.id}").text
    steps = BeautifulSoup(page, "html.parser").select(".steps > li")
    assert [str(step["data-holds"]) for step in steps] == ["note", "yes", "no", "note"]
    decided = [step for step in steps if step.get("aria-current")]
    assert len(decided) == 1
    assert "At that time: The rule is switched off." in decided[0].get_text()
    assert "/events/" in page


def test_from_a_rule_one_chooses_the_record(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    rule = add(session, of)
    assert f"/why/?rule={rule.id}" in as_viewer.get(f"/rules/{rule.id}").text
    page = as_viewer.get(f"/why/?rule={rule.id}&q=J%C3%B6rg").text
    assert f"/why/bonifatius/bookings/b1/{rule.id}" in page
    assert "ada@example.org" not in page  # no booking rule is about a guest


def test_the_search_finds_every_kind_and_escapes_what_it_shows(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    page = as_viewer.get("/why/").text
    for path in ("bookings/b1", "episodes/e1", "guests/g1"):
        assert f"/why/bonifatius/{path}" in page
    assert XSS not in page
    assert "Nothing is called so" in as_viewer.get("/why/?q=zzz%00").text
    assert "bookings/b1" not in as_viewer.get("/why/?q=ada").text
    assert as_viewer.get("/why/?rule=nonsense").status_code == 200


def test_what_is_older_than_the_newest_is_found_by_its_whole_id(
    as_viewer: FlaskClient,
    session: Session,
    of: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "LOOKED_AT", 1)
    factories.booking(
        session, of, id="b0", guest_name="Olga", start_time=utcnow() - timedelta(90)
    )
    session.commit()
    assert "bookings/b0" not in as_viewer.get("/why/?q=olga").text
    assert "bookings/b0" in as_viewer.get("/why/?q=b0").text
    assert "bookings/b1" in as_viewer.get("/why/?q=j%C3%B6rg").text


def test_an_empty_console_says_where_records_come_from(as_viewer: FlaskClient) -> None:
    assert "come through the API" in as_viewer.get("/why/").text


def test_episodes_and_guests_are_asked_about_as_well(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    assert "No rule is about guests" in as_viewer.get("/why/bonifatius/guests/g1").text
    rule = add(session, of, trigger_type="guest.responded")
    other = add(session, of, trigger_type="time.before_publish", offset_value=1)
    for path, piece in (
        ("guests/g1", "No “Guest responded” was ever reported for it"),
        (f"guests/g1/{rule.id}", "No “Guest responded” was ever reported for it"),
        ("episodes/e1", "no date on which it goes out"),
        (f"episodes/e1/{other.id}", "its status is draft"),
        (f"guests/g1/{other.id}", "a guest has no such date"),
    ):
        page = as_viewer.get(f"/why/bonifatius/{path}").text
        assert piece in words(page), path
        assert XSS not in page


@pytest.mark.parametrize(
    "path",
    ["nowhere/bookings/b1", "bonifatius/bookings/b9", "bonifatius/guests/%00"],
)
def test_what_is_not_there_is_not_found(
    as_viewer: FlaskClient, of: UUID, path: str
) -> None:
    assert as_viewer.get(f"/why/{path}").status_code == 404


def test_a_rule_of_another_congregation_is_not_found(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    far = factories.congregation(session, "far")
    theirs = add(session, far)
    answer = as_viewer.get(f"/why/bonifatius/bookings/b1/{theirs.id}")
    assert answer.status_code == 404


def test_a_stranger_finds_nothing(
    log_in: Callable[..., FlaskClient], session: Session, of: UUID
) -> None:
    far = factories.congregation(session, "far")
    rule = add(session, of)
    browser = log_in("admin", sees_all=False, congregations=[far])
    for path in ("bookings/b1", "episodes/e1", "guests/g1", f"bookings/b1/{rule.id}"):
        assert browser.get(f"/why/bonifatius/{path}").status_code == 404
    assert browser.get(f"/why/?rule={rule.id}").status_code == 404
    assert "bonifatius" not in browser.get("/why/?q=b1").text


def test_many_rules_are_paged_and_cost_no_more_statements(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    add(session, of, name="A")
    factories.reminder(session, of, name="B")
    session.commit()
    path = "/why/bonifatius/bookings/b1"
    with statements() as few:
        as_viewer.get(path)
    for n in range(60):
        factories.rule(session, of, name=f"Rule {n}")
    session.commit()
    with statements() as many:
        page = as_viewer.get(path).text
    assert len(many) == len(few)
    assert page.count('id="rule-') == 50
    assert 'rel="next"' in page


def test_a_rule_tells_how_it_fared_and_what_comes_next(
    as_viewer: FlaskClient, session: Session, of: UUID
) -> None:
    rule = add(session, of)
    for state in ("succeeded", "succeeded", "failed", "quarantined", "skipped"):
        factories.execution(session, rule, state=state, created_at=utcnow())
    month_ago = utcnow() - timedelta(days=31)
    factories.execution(session, rule, state="failed", created_at=month_ago)
    reminder = factories.reminder(session, of)
    soon = utcnow() + timedelta(hours=5, minutes=1)
    factories.job(session, reminder, run_at=soon, due_at=soon)
    session.commit()
    text = words(as_viewer.get(f"/rules/{rule.id}").text)
    assert "2 succeeded, 2 failed , 1 skipped" in text
    assert "Fires next with the next “Booking confirmed”" in text
    text = words(as_viewer.get(f"/rules/{reminder.id}").text)
    assert "Fires next in 5 h" in text
    assert "it did not fire" in text


def test_times_are_told_by_the_clock_of_who_reads(
    as_operator: FlaskClient, session: Session, of: UUID
) -> None:
    rule = factories.reminder(session, of)
    start = datetime(2031, 1, 1, 4, tzinfo=UTC)
    booking = session.get_one(Booking, (of, "b1"))
    booking.start_time, booking.status = start, BookingStatus.CONFIRMED
    session.scalars(select(Operator)).one().timezone = "America/New_York"
    session.commit()
    told = words(as_operator.get(f"/why/bonifatius/bookings/b1/{rule.id}").text)
    assert "is on Tue 31 Dec 2030, 23:00 EST." in told
    tried = words(as_operator.get(f"/rules/{rule.id}/try").text)
    assert "Booking · 31 Dec 2030, 23:00 EST" in tried
    offered = words(as_operator.get(f"/rules/{rule.id}/edit").text)
    assert ", 31 Dec 2030, 23:00 EST (" in offered
