"""Many rows looked up by their keys in a table of which PostgreSQL knows nothing yet.

It may read all of such a table, or all of a congregation's; what it must not do is
compare each of these rows with each key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, delete, event, insert, literal, select, text
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session, joinedload

from tasks import migrations
from tasks.automation.jobs import existing_jobs
from tasks.automation.overdue import siblings
from tasks.automation.plans import reconcile
from tasks.automation.subjects import of_bookings
from tasks.automation.suppressed import reasons_of
from tasks.db import make_engine
from tasks.models import (
    Booking,
    Contact,
    ContactSource,
    ScheduledJob,
    Suppression,
    SuppressionReason,
    new_id,
)
from tasks.outreach.known import known_contacts
from tests.support import factories
from tests.support.factories import NOW

ADDRESSES = [f"guest-{n:04}@example.org" for n in range(1_000)]


@pytest.fixture
def session(postgres_engine: Engine) -> Iterator[Session]:
    with Session(postgres_engine) as made:
        yield made


@contextmanager
def plans(session: Session) -> Iterator[list[str]]:
    """Collect the plans of all that is asked within the block."""
    found: list[str] = []

    def explain(_connection: Any, cursor: Any, sql: str, given: Any, *_: Any) -> None:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", given)
        found.append(json.dumps(cursor.fetchone()[0]))

    engine = session.get_bind()
    event.listen(engine, "before_cursor_execute", explain)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", explain)


def test_suppressed_addresses_are_found_by_their_key(session: Session) -> None:
    of = factories.congregation(session)
    common = {
        "congregation_id": of,
        "agent": "",
        "reason": SuppressionReason.ASKED,
        "note": "",
        "created_by": "ada",
        "created_at": NOW,
    }
    rows = [common | {"id": new_id(), "address": each} for each in ADDRESSES]
    session.execute(insert(Suppression), rows)
    wanted = [(of, each) for each in ADDRESSES[:500]]
    with plans(session) as found:
        assert len(reasons_of(session, wanted)) == len(wanted)
    assert found
    assert [plan for plan in found if "= ANY" in plan] == []


def test_known_contacts_are_found_by_their_key(session: Session) -> None:
    of = factories.congregation(session)
    common = {
        "congregation_id": of,
        "display_name": "",
        "details": {},
        "source": ContactSource.IMPORT,
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
    }
    rows = [common | {"id": new_id(), "address": each} for each in ADDRESSES]
    session.execute(insert(Contact), rows)
    with plans(session) as found:
        assert len(known_contacts(session, of, ADDRESSES[:500])) == 500
    assert found
    assert [plan for plan in found if "= ANY" in plan] == []


def test_jobs_and_their_series_are_found_by_their_bookings(session: Session) -> None:
    of = factories.congregation(session)
    ids = [f"b{n}" for n in range(1_000)]
    one = factories.booking(session, of)
    session.expunge(one)
    columns = Booking.__table__.columns
    common = {each.key: getattr(one, each.key) for each in columns}
    session.execute(delete(Booking))
    session.execute(insert(Booking), [common | {"id": each} for each in ids])
    rule = factories.reminder(session, of)
    subjects = of_bookings(session, session.scalars(select(Booking)).all())
    reconcile(session, subjects, now=NOW, rules=[rule])
    jobs = session.scalars(
        select(ScheduledJob).options(joinedload(ScheduledJob.rule)).limit(500)
    ).all()
    with plans(session) as found:
        assert existing_jobs(session, subjects[:500])(subjects[0].ids)
        siblings(session, jobs, NOW + timedelta(days=30))
    assert len(found) == 3
    lists = ("= ANY ('{b", "= 'b")  # each row compared with each of them
    assert [plan for plan in found if any(each in plan for each in lists)] == []


@pytest.mark.parametrize("was_seen_empty", [False, True])
def test_what_points_to_the_first_jobs_is_checked_by_their_key(
    postgres_url: URL, was_seen_empty: bool
) -> None:
    """As a step of migrating makes the tables; what is read shows in plans only."""
    engine = make_engine(postgres_url)
    migrations.upgrade(engine)
    if was_seen_empty:
        with engine.begin() as connection:
            connection.execute(text("ANALYZE scheduled_jobs"))
    with Session(engine) as session:
        of = factories.congregation(session)
        one = factories.booking(session, of)
        session.expunge(one)
        common = {
            each.key: getattr(one, each.key) for each in Booking.__table__.columns
        }
        session.execute(delete(Booking))
        session.execute(insert(Booking), [common | {"id": f"b{n}"} for n in range(500)])
        rule = factories.reminder(session, of)
        subjects = of_bookings(session, session.scalars(select(Booking)).all())
        reconcile(session, subjects, now=NOW, rules=[rule])
        key = (ScheduledJob.congregation_id == of, ScheduledJob.id == new_id())
        with plans(session) as found:
            session.execute(select(literal(1)).where(*key).with_for_update(read=True))
    engine.dispose()
    assert "uq_scheduled_jobs_congregation_id_id" in found[0]
