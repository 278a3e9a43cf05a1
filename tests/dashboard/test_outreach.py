"""The pages of outreach: engagements, contacts, agents, imported lists."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.operators.models import RoleName
from tasks.db import sessions
from tasks.lanes.contact_due import sweep
from tasks.models import (
    Agent,
    AuditEntry,
    Congregation,
    Contact,
    Direction,
    Engagement,
    PassedBecause,
    SuppressionReason,
    WakeState,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tasks.outreach import scheduling
from tasks.outreach.looking import get_engagement
from tasks.outreach.messages import Mail, note_message
from tests.dashboard.conftest import Browser
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.outreach import ADDRESS, AGENT, engagement

Sessions = sessionmaker[Session]


@pytest.fixture
def make_db(sqlite_engine: Engine) -> Sessions:
    return sessions(sqlite_engine)


@pytest.fixture
def add(make_db: Sessions, congregation: Congregation) -> Callable[..., UUID]:
    """Return a function that enrols a contact that is due."""

    def enrol(*args: Any, **values: Any) -> UUID:
        with make_db.begin() as session:
            return engagement(session, congregation.id, *args, **values).id

    return enrol


def words(answer: Any) -> str:
    return str(answer.get_data(as_text=True))


def _get(make_db: Sessions, id_: UUID) -> Engagement:
    with make_db() as session:
        return session.get_one(Engagement, id_)


def _entry(congregation: Congregation, **changes: str) -> dict[str, str]:
    return {
        "congregation_id": str(congregation.id),
        "agent": AGENT,
        "address": "Zoe@Example.org",
        "stage": "new",
        "next_action_at": "2026-03-12T14:00",
        **changes,
    }


def test_empty_pages_say_so(as_viewer: Browser) -> None:
    assert "No engagement yet" in words(as_viewer.get("/outreach/"))
    assert "Enrol a contact" not in words(as_viewer.get("/outreach/"))
    assert "No contact yet" in words(as_viewer.get("/outreach/contacts"))
    assert "No agent yet" in words(as_viewer.get("/outreach/agents"))


def test_each_tab_shows_what_it_says(
    as_viewer: Browser,
    add: Callable[..., UUID],
    make_db: Sessions,
    congregation: Congregation,
) -> None:
    names = ("due", "armed", "announced", "passed", "suppressed", "replied", "aside")
    names += ("mailed", "idle")
    far = NOW + timedelta(days=30_000)
    ids = {name: add(f"{name}@example.org", next_action_at=far) for name in names}
    with make_db.begin() as session:
        of = congregation.id
        row = {name: session.get_one(Engagement, id_) for name, id_ in ids.items()}
        scheduling.schedule(row["due"], NOW)
        scheduling.announced(row["announced"], NOW)
        scheduling.pass_over(row["passed"], PassedBecause.PAUSED, NOW)
        scheduling.set_aside(row["aside"], "It is too large.", NOW)
        scheduling.schedule(row["idle"], None)
        session.flush()
        asked = SuppressionReason.ASKED
        suppress(session, of, "suppressed@example.org", asked, SYSTEM)
        for number, way in enumerate(Direction):
            at = NOW + timedelta(minutes=number)
            mail = Mail(way, f"m{number}", at)
            note_message(session, of, AGENT, "replied@example.org", mail)
        sent = Mail(Direction.OUTBOUND, "m9", NOW)
        note_message(session, of, AGENT, "mailed@example.org", sent)
    shown = {
        "due": {"due"},
        "upcoming": {"armed", "suppressed", "replied", "mailed"},
        "unanswered": {"mailed"},
        "stopped": {"idle"},
        "announced": {"announced"},
        "passed": {"passed"},
        "suppressed": {"suppressed"},
        "replied": {"replied"},
        "set_aside": {"aside"},
        "": set(names),
    }
    for tab, expected in shown.items():
        page = words(as_viewer.get(f"/outreach/?tab={tab}"))
        found = {name for name in names if f'id="engagement-{ids[name]}"' in page}
        assert found == expected, tab
    for name, sentence in (
        ("passed", "was paused, so nobody was woken"),
        ("aside", "It is too large."),
        ("replied", "The contact wrote"),
    ):
        assert sentence in words(as_viewer.get(f"/outreach/{ids[name]}"))


def test_a_filter_that_cannot_be_read_is_told(
    as_viewer: Browser, add: Callable[..., UUID]
) -> None:
    add()
    assert as_viewer.get("/outreach/?tab=nosuch").status_code == 400
    assert as_viewer.get("/outreach/?cursor=bad").status_code == 400
    for query in ("q=Zo", f"agent={AGENT.upper()}"):
        assert ADDRESS in words(as_viewer.get(f"/outreach/?{query}"))
    for query in ("q=z_e%00", "agent=nobody"):
        assert "No engagement is so" in words(as_viewer.get(f"/outreach/?{query}"))


def test_a_contact_is_enrolled_and_the_page_tells_its_story(
    as_operator: Browser, congregation: Congregation, make_db: Sessions
) -> None:
    answer = as_operator.post(
        "/outreach/", data=_entry(congregation), follow_redirects=True
    )
    page = words(answer)
    assert "zoe@example.org is enrolled." in page
    for text in (AGENT, "new", "St Mary", "Enrolled the engagement of"):
        assert text in page
    with make_db() as session:
        row = session.scalars(select(Engagement)).one()
        assert row.next_action_at is not None
        assert row.next_action_at.isoformat() == "2026-03-12T14:00:00+00:00"
    sweep(bench(make_db, lambda: NOW + timedelta(days=3), FakePost()), 10)
    assert "The agent was woken" in words(as_operator.get(f"/outreach/{row.id}"))
    assert _get(make_db, row.id).wake_state is WakeState.ANNOUNCED


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"agent": ""}, "not an e-mail address"),
        ({"address": "a@b.org, c@d.org"}, "Give one e-mail address"),
        ({"congregation_id": "x"}, "Choose a congregation."),
        ({"next_action_at": "soon"}, "must look like"),
        ({"stage": "x" * 121}, "at most 120"),
        ({"stage": "a\x00b"}, "control character"),
        ({"quiet_from": "22:00"}, "both a beginning and an end"),
        ({"quiet_from": "26:00", "quiet_until": "07:00"}, "time of day"),
        ({"timezone": "Mars"}, "must be a timezone"),
    ],
)
def test_wrong_input_is_told_at_its_field_and_nothing_is_kept(
    as_operator: Browser,
    congregation: Congregation,
    make_db: Sessions,
    changes: dict[str, str],
    sentence: str,
) -> None:
    answer = as_operator.post("/outreach/", data=_entry(congregation, **changes))
    assert answer.status_code == 422
    assert sentence in words(answer)
    with make_db() as session:
        assert session.scalars(select(Contact)).all() == []
        assert session.scalars(select(Agent)).all() == []


def test_an_engagement_is_changed_and_an_untouched_instant_stays_exact(
    as_operator: Browser, add: Callable[..., UUID], make_db: Sessions
) -> None:
    exact = NOW + timedelta(seconds=1.5)
    id_ = add(next_action_at=exact)
    data = {"stage": "warm", "next_action_at": "2026-03-10T12:00", "version": "1"}
    page = as_operator.post(f"/outreach/{id_}", data=data, follow_redirects=True)
    assert "Saved." in words(page)
    row = _get(make_db, id_)
    assert (row.stage, row.next_action_at, row.revision) == ("warm", exact, 1)
    assert 'value="2026-03-10T12:00"' in words(as_operator.get(f"/outreach/{id_}/edit"))
    wrong = {"quiet_from": "22:00", "version": "2"}
    answer = as_operator.post(f"/outreach/{id_}", data=wrong)
    assert answer.status_code == 422
    assert "both a beginning and an end" in words(answer)
    assert _get(make_db, id_).quiet_from is None


def test_a_page_from_before_the_agent_moved_its_schedule_does_not_move_it_back(
    as_operator: Browser, add: Callable[..., UUID], make_db: Sessions
) -> None:
    id_ = add()
    page = as_operator.get(f"/outreach/{id_}/edit").text
    assert 'name="version" type="hidden" value="1"' in page
    later = NOW + timedelta(days=7)
    with make_db.begin() as session:
        row = get_engagement(session, id_)
        scheduling.schedule(row, later)
        scheduling.touch(row, NOW)
    data = {"stage": "warm", "next_action_at": "2026-03-10T12:00", "version": "1"}
    answer = as_operator.post(f"/outreach/{id_}", data=data)
    assert answer.status_code == 422
    assert "This has changed since you read it" in words(answer)
    row = _get(make_db, id_)
    assert (row.stage, row.next_action_at) == ("", later)


def test_operators_wake_stop_pause_and_resume(
    as_operator: Browser, add: Callable[..., UUID], make_db: Sessions
) -> None:
    id_ = add(next_action_at=None)
    assert as_operator.post(f"/outreach/{id_}/stop").status_code == 409
    as_operator.post(f"/outreach/{id_}/wake")
    assert _get(make_db, id_).wake_state is WakeState.ARMED
    as_operator.post(f"/outreach/{id_}/pause")
    assert as_operator.post(f"/outreach/{id_}/pause").status_code == 409
    page = as_operator.post(f"/outreach/{id_}/resume", follow_redirects=True)
    assert "stays passed" in words(page)
    assert _get(make_db, id_).wake_state is WakeState.PASSED
    assert as_operator.post(f"/outreach/{id_}/try-again").status_code == 409
    as_operator.post(f"/outreach/{id_}/stop")
    assert _get(make_db, id_).wake_state is WakeState.IDLE
    with make_db() as session:
        about = select(AuditEntry.action).filter_by(subject_kind="engagement")
        told = session.scalars(about.order_by(AuditEntry.id)).all()
    assert told == [
        "engagement.scheduled",
        "engagement.paused",
        "engagement.resumed",
        "engagement.stopped",
    ]
    page = as_operator.post(f"/outreach/{id_}/remove", follow_redirects=True)
    assert "the contact stays" in words(page)
    assert as_operator.get(f"/outreach/{id_}").status_code == 404
    assert ADDRESS in words(as_operator.get("/outreach/contacts"))


def test_an_agent_is_paused_and_resumed_without_waking_it_for_the_past(
    as_operator: Browser, add: Callable[..., UUID], make_db: Sessions
) -> None:
    id_ = add()
    agent = _get(make_db, id_).agent_id
    as_operator.post(f"/outreach/agents/{agent}/pause")
    assert "Paused" in words(as_operator.get(f"/outreach/{id_}"))
    page = as_operator.post(f"/outreach/agents/{agent}/resume", follow_redirects=True)
    assert "1 schedule that came due meanwhile" in words(page)
    assert _get(make_db, id_).passed_because is PassedBecause.AGENT_PAUSED
    assert as_operator.post(f"/outreach/agents/{agent}/remove").status_code == 403


def test_an_admin_removes_an_agent_and_contacts_stay(
    log_in: Callable[..., Browser], add: Callable[..., UUID], make_db: Sessions
) -> None:
    agent = _get(make_db, add()).agent_id
    admin = log_in(RoleName.ADMIN)
    admin.post(f"/outreach/agents/{agent}/remove")
    with make_db() as session:
        assert session.scalars(select(Engagement)).all() == []
        assert len(session.scalars(select(Contact)).all()) == 1


def test_a_contacts_page_shows_its_engagements_and_removes_it(
    as_operator: Browser, add: Callable[..., UUID], make_db: Sessions
) -> None:
    first, second = add(), add(agent="other@agents.org")
    contact = _get(make_db, first).contact_id
    page = words(as_operator.get(f"/outreach/contacts/{contact}"))
    assert f"engagement-{first}" in page
    assert f"engagement-{second}" in page
    as_operator.post(f"/outreach/contacts/{contact}/remove")
    assert as_operator.get(f"/outreach/contacts/{contact}").status_code == 404
    with make_db() as session:
        assert session.scalars(select(Engagement)).all() == []


def test_viewers_may_look_but_not_act(
    as_viewer: Browser, add: Callable[..., UUID], congregation: Congregation
) -> None:
    id_ = add()
    assert as_viewer.get(f"/outreach/{id_}").status_code == 200
    assert as_viewer.get("/outreach/new").status_code == 403
    assert as_viewer.get(f"/outreach/{id_}/edit").status_code == 403
    assert as_viewer.post("/outreach/", data=_entry(congregation)).status_code == 403
    for verb in ("wake", "stop", "pause", "remove"):
        assert as_viewer.post(f"/outreach/{id_}/{verb}").status_code == 403
