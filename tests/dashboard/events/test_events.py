"""The events' pages: what happened, and what every rule made of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.clock import utcnow
from tasks.models import (
    Decision,
    DecisionOutcome,
    EventData,
    Podcast,
    new_id,
)
from tasks.models.reason import SENTENCES, Reason
from tests.dashboard.events.conftest import soup, words
from tests.support import factories

XSS = "<script>alert(1)</script>"


def test_an_event_shows_every_yes_and_every_no(
    as_viewer: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.add(Podcast(congregation_id=house, id="other", title="Other"))
        session.flush()
        factories.rule(session, house, name="Yes")
        factories.rule(session, house, name="Off", enabled=False)
        factories.rule(session, house, name="Elsewhere", podcast_id="other")
        payload = AutomationEvent(
            "booking.confirmed",
            "show",
            booking_id="b1",
            event_id="b1:confirmed",
            context={"note": "from the website"},
            congregation_id=house,
        )
        result = emit_automation_event(session, payload)
        assert result.success
        assert result.executions_created == 1

    page = as_viewer.get(f"/events/{result.event_id}")
    text = words(page)
    assert "Booking confirmed: Jörg 🎙" in text
    assert "1 rule fired." in text
    assert "The rule is switched off." in text
    assert "The rule belongs to another podcast." in text
    assert "from the website" in text
    assert "b1:confirmed" in text
    decisions = soup(page).select(".decisions li")
    outcomes = [str(one["data-outcome"]) for one in decisions]
    assert outcomes == ["fired", "no", "no"]
    assert decisions[0].select_one("a[href^='/executions/']") is not None

    row = words(as_viewer.get("/events/"))
    assert "1 execution" in row
    assert "2 rules said no" in row


def test_a_repeated_event_leads_to_what_the_first_one_did(
    as_viewer: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    payload = AutomationEvent(
        "booking.confirmed", "show", booking_id="b1", congregation_id=house
    )
    with Session(sqlite_engine) as session, session.begin():
        factories.rule(session, house)
        emit_automation_event(session, payload)
        second = emit_automation_event(session, payload)

    page = as_viewer.get(f"/events/{second.event_id}")
    assert "The same thing was already asked for." in words(page)
    assert "Look at the first one" in words(page)


def test_an_event_that_no_rule_waits_for_says_so(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    text = words(as_viewer.get(f"/events/{add()}"))
    assert "Nothing came of it: no rule waits for “Booking confirmed”." in text
    assert "there was no rule with this trigger" in text


def test_rules_that_said_nothing_are_told_with_the_reason_or_counted(
    as_viewer: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
) -> None:
    event_id = add(created_at=utcnow() - timedelta(days=1))
    with Session(sqlite_engine) as session, session.begin():
        factories.rule(session, house, name="Made later")
        session.add(Podcast(congregation_id=house, id="other", title="Other"))
        session.flush()
        factories.rule(session, house, name="Elsewhere", podcast_id="other")
        for n in range(25):
            factories.rule(session, house, name=f"Old {n}")
        for trigger in ("booking.declined", "guest.responded", "episode.published"):
            factories.rule(session, house, name=trigger, trigger_type=trigger)
        factories.rule(session, house, name="Deleted", deleted_at=utcnow())
    page = as_viewer.get(f"/events/{event_id}")
    text = words(page)
    assert "Why nothing fired" in text
    assert "no rule waited for it then" in text
    assert "Made later The rule was made on" in text
    assert "after that: rules do not act on what was before them." in text
    assert "Elsewhere The rule belongs to another podcast." in text
    assert "3 rules wait for other triggers." in text
    assert "And 7 more that wait for the same" in text
    assert "Deleted" not in text
    assert len(soup(page).select(".silent li")) == 20


def test_many_decisions_are_paged_the_yes_first(
    as_viewer: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
) -> None:
    event_id = add()
    with Session(sqlite_engine) as session, session.begin():
        for n in range(55):
            rule = factories.rule(session, house, name=f"Rule {n}")
            said = {"reason": "condition_false", "detail": f"Seen: {n}."}
            session.add(
                Decision(
                    congregation_id=house,
                    event_id=event_id,
                    rule_id=rule.id,
                    rule_version=1,
                    outcome=DecisionOutcome.NO if n else DecisionOutcome.FIRED,
                    **(said if n else {}),
                )
            )
    first = as_viewer.get(f"/events/{event_id}")
    rows = soup(first).select(".decisions:not(.silent) > li")
    assert len(rows) == 50
    assert rows[0]["data-outcome"] == "fired"
    assert "1 rule fired. 54 rules said no." in words(first)
    assert "A condition of the rule was not met. Seen: 3." in words(first)
    link = soup(first).select_one("a[rel=next]")
    assert link is not None
    second = as_viewer.get(str(link["href"]))
    assert len(soup(second).select(".decisions:not(.silent) > li")) == 5


def test_a_rule_that_fired_shows_how_its_execution_ended(
    as_viewer: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
) -> None:
    event_id = add()
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, house)
        made = factories.execution(
            session, rule, event_id=event_id, state="skipped", reason="suppressed"
        )
        session.add(
            Decision(
                congregation_id=house,
                event_id=event_id,
                rule_id=rule.id,
                rule_version=1,
                outcome=DecisionOutcome.FIRED,
                execution_id=made.id,
            )
        )
    text = words(as_viewer.get(f"/events/{event_id}"))
    assert f"which ended so: {SENTENCES[Reason.SUPPRESSED]}" in text


def test_a_decision_of_an_older_version_says_so(
    as_viewer: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
) -> None:
    event_id = add()
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, house, version=3)
        session.add(
            Decision(
                congregation_id=house,
                event_id=event_id,
                rule_id=rule.id,
                rule_version=2,
                outcome=DecisionOutcome.NO,
                reason="duplicate",
            )
        )
    assert "version 2, now 3" in words(as_viewer.get(f"/events/{event_id}"))


def test_what_producers_tell_is_never_markup(
    as_viewer: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
) -> None:
    event_id = add(external_id=XSS, booking_id="b2")
    with Session(sqlite_engine) as session, session.begin():
        factories.booking(session, house, id="b2", guest_name=XSS)
        session.add(
            EventData(congregation_id=house, event_id=event_id, data={XSS: XSS})
        )
    for path in ("/events/", f"/events/{event_id}"):
        page = as_viewer.get(path).get_data(as_text=True)
        assert XSS not in page
        assert "&lt;script&gt;" in page


def test_a_stranger_finds_nothing(
    log_in: Callable[..., FlaskClient],
    sqlite_engine: Engine,
    add: Callable[..., UUID],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        theirs = factories.congregation(session, "twin")
        factories.booking(session, theirs, guest_name="Twin")
    event_id = add()
    other = log_in(
        "admin", email="twin@example.org", sees_all=False, congregations=[theirs]
    )

    assert other.get(f"/events/{event_id}").status_code == 404
    for query in ("", "?booking=b1", "?text=twin", "?text=b1"):
        assert str(event_id) not in other.get(f"/events/{query}").get_data(as_text=True)


def test_an_event_that_never_was_is_not_found(as_viewer: FlaskClient) -> None:
    assert as_viewer.get(f"/events/{new_id()}").status_code == 404
    assert as_viewer.get("/events/nonsense").status_code == 404
