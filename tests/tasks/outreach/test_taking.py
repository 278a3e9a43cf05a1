"""Many rows of a list are written in few statements, as they are when it is taken."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import sessions
from tasks.errors import Conflict
from tasks.models import Contact, Engagement
from tasks.models.contact import ContactSource
from tasks.models.engagement import WakeState
from tasks.operations.audit import SYSTEM
from tasks.outreach import drafts
from tasks.outreach.agents import agent_of
from tasks.outreach.import_rows import How
from tasks.outreach.importing import ImportDone, import_contacts
from tasks.outreach.reading_entries import read_entries
from tests.support import factories
from tests.support.factories import NOW
from tests.support.locks import waits_for_a_lock
from tests.support.outreach import AGENT
from tests.support.processes import until
from tests.support.statements import statements

Sessions = sessionmaker[Session]
THEN = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
#: More than fit into one statement.
MANY = 501


def _rows(n: int, **values: Any) -> list[dict[str, Any]]:
    return [
        {
            "address": f"n{number:04}@example.org",
            "display_name": f"Né {number}, “{number}”",
            "metadata": {"number": number, "of": ["a", {"b": None}]},
            "stage": f"stage {number % 3}",
            "next_action_at": THEN + timedelta(minutes=number),
        }
        | values
        for number in range(n)
    ]


def _take(
    make_session: Sessions, of: UUID, rows: list[dict[str, Any]], now: datetime = NOW
) -> ImportDone:
    with make_session.begin() as session:
        how = How(agent=AGENT)
        return import_contacts(session, of, rows, how, SYSTEM, now=now)


def _all(make_session: Sessions) -> list[tuple[Contact, Engagement]]:
    with make_session() as session:
        rows = session.execute(
            select(Contact, Engagement)
            .join(Engagement, Engagement.contact_id == Contact.id)
            .order_by(Contact.address)
        )
        return [(contact, engagement) for contact, engagement in rows]


@pytest.fixture
def of(make_session: Sessions) -> UUID:
    """Return a congregation."""
    with make_session.begin() as session:
        return factories.congregation(session)


def test_new_rows_are_made_with_everything_that_they_say(
    make_session: Sessions, of: UUID
) -> None:
    done = _take(make_session, of, _rows(MANY))
    assert done.row.counts == {"created": MANY}
    found = _all(make_session)
    assert len(found) == MANY
    contact, engagement = found[7]
    assert (contact.display_name, contact.source) == ("Né 7, “7”", ContactSource.IMPORT)
    assert contact.details == {"number": 7, "of": ["a", {"b": None}]}
    assert (contact.version, contact.created_at) == (1, NOW)
    assert contact.import_id == engagement.import_id == done.row.id
    assert (engagement.address, engagement.stage) == (contact.address, "stage 1")
    due = THEN + timedelta(minutes=7)
    assert engagement.next_action_at == engagement.wake_at == due
    assert (engagement.wake_state, engagement.revision) == (WakeState.ARMED, 1)
    assert (engagement.details, engagement.campaign) == ({}, None)
    assert (engagement.outbound_count, engagement.stop_on_reply) == (0, False)


def test_each_known_row_gets_its_own_changes_and_others_stay(
    make_session: Sessions, of: UUID
) -> None:
    rows = _rows(6)
    _take(make_session, of, rows)
    rows[0]["metadata"] = {"other": True}
    rows[1]["display_name"] = "Another"
    rows[2] |= {"metadata": {}, "display_name": "Third"}
    rows[3]["stage"] = "later"
    rows[4]["next_action_at"] = None
    done = _take(make_session, of, rows, LATER)
    assert done.row.counts == {"changed": 5, "unchanged": 1}
    contacts, engagements = zip(*_all(make_session), strict=True)
    assert [one.version for one in contacts] == [2, 2, 2, 1, 1, 1]
    assert [one.version for one in engagements] == [1, 1, 1, 2, 2, 1]
    assert contacts[0].details == {"other": True}
    assert contacts[0].display_name == "Né 0, “0”"
    assert (contacts[1].display_name, contacts[2].details) == ("Another", {})
    assert (contacts[2].updated_at, contacts[3].updated_at) == (LATER, NOW)
    assert (engagements[3].stage, engagements[3].revision) == ("later", 1)
    stopped = engagements[4]
    assert (stopped.wake_state, stopped.wake_at) == (WakeState.IDLE, None)
    assert (stopped.next_action_at, stopped.revision) == (None, 2)
    assert (stopped.stage, stopped.updated_at) == ("stage 1", LATER)


def test_a_new_instant_wakes_again_who_was_announced(
    make_session: Sessions, of: UUID
) -> None:
    _take(make_session, of, _rows(2))
    with make_session.begin() as session:
        for one in session.scalars(select(Engagement)):
            one.wake_state, one.settled_at = WakeState.ANNOUNCED, NOW
    _take(make_session, of, [{**_rows(2)[0], "next_action_at": LATER}, _rows(2)[1]])
    (_, moved), (_, kept) = _all(make_session)
    assert (moved.wake_state, moved.wake_at) == (WakeState.ARMED, LATER)
    assert (moved.settled_at, moved.revision) == (None, 2)
    assert (kept.wake_state, kept.settled_at) == (WakeState.ANNOUNCED, NOW)


@pytest.mark.parametrize("step", ["new", "changed"])
def test_ten_times_the_rows_take_no_more_statements(
    engine: Engine, of: UUID, step: str
) -> None:
    make_session = sessions(engine)
    taken = []
    for n in (40, 400):
        if step == "changed":
            _take(make_session, of, _rows(n))
        with statements() as seen:
            _take(make_session, of, _rows(n, display_name=f"At {n}", stage=f"{n}"))
        taken.append(len(seen))
        with make_session.begin() as session:
            session.query(Contact).delete()
    assert taken[1] <= taken[0] <= 16  # the first makes the agent known


def test_what_changed_since_the_look_counts(make_session: Sessions, of: UUID) -> None:
    rows = [{**row, "next_action_at": "2026-05-01T08:00:00Z"} for row in _rows(3)]
    with make_session.begin() as session:
        waits = drafts.upload(session, of, "a.json", read_entries(rows), SYSTEM).id
    with make_session.begin() as session:
        draft = drafts.get_draft(session, waits)
        checked = drafts.check_draft(draft, How(agent=AGENT))
    _take(make_session, of, _rows(1))  # somebody else makes one known …
    _take(make_session, of, _rows(2, display_name="Theirs"))  # … and changes it
    with make_session.begin() as session:
        made = drafts.take_draft(session, checked, SYSTEM)
    assert made.counts == {"created": 1, "changed": 2}
    assert {c.display_name for c, _ in _all(make_session)} == {
        row["display_name"] for row in rows
    }


def test_of_two_that_race_one_is_refused(postgres_engine: Engine) -> None:
    make_session = sessions(postgres_engine)
    refused: list[Conflict] = []
    with make_session.begin() as session:
        of = factories.congregation(session)
        agent_of(session, of, AGENT, NOW)

    def take_too() -> None:
        try:
            _take(make_session, of, list(reversed(_rows(5))))
        except Conflict as error:
            refused.append(error)

    other = threading.Thread(target=take_too)
    with make_session.begin() as session:
        import_contacts(session, of, _rows(5), How(agent=AGENT), SYSTEM, now=NOW)
        other.start()
        until(lambda: waits_for_a_lock(postgres_engine))
    other.join(30)
    assert [error.code for error in refused] == ["import_raced"]
    with make_session() as session:
        assert len(session.scalars(select(Contact)).all()) == 5
