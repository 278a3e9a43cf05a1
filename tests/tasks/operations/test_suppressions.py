"""Whom a congregation does not write to."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    AuditEntry,
    Suppression,
    SuppressionReason,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.suppressions import lift, suppress, unsubscribe
from tests.support import factories

Make = sessionmaker[Session]
ANNA = Actor("anna@example.org", "127.0.0.1")
ASKED = SuppressionReason.ASKED


@pytest.fixture
def house(make_session: Make) -> UUID:
    with make_session.begin() as session:
        return factories.congregation(session)


def listed(make_session: Make) -> list[tuple[str, str, str]]:
    with make_session() as session:
        rows = session.scalars(select(Suppression).order_by(Suppression.address))
        return [(row.address, str(row.reason), row.created_by) for row in rows]


def audited(make_session: Make) -> list[tuple[str, str]]:
    with make_session() as session:
        rows = session.scalars(select(AuditEntry).order_by(AuditEntry.created_at))
        return [(row.actor, row.action) for row in rows]


def test_an_address_is_kept_in_its_normal_form(make_session: Make, house: UUID) -> None:
    with make_session.begin() as session:
        suppress(session, house, " Zoe@Example.ORG ", ASKED, ANNA, note="by phone")

    assert listed(make_session) == [("zoe@example.org", "asked", ANNA.name)]
    assert audited(make_session) == [(ANNA.name, "suppression.added")]


@pytest.mark.parametrize("address", ["", "nobody", "a@b.org, c@d.org", "a@b\x00.org"])
def test_what_is_no_address_is_refused(
    make_session: Make, house: UUID, address: str
) -> None:
    with make_session.begin() as session, pytest.raises(InvalidInput) as refused:
        suppress(session, house, address, ASKED, ANNA)
    assert refused.value.field == "address"


@pytest.mark.parametrize("note", ["x" * 201, "a\nb", "a\x00b"])
def test_a_bad_note_is_refused(make_session: Make, house: UUID, note: str) -> None:
    with make_session.begin() as session, pytest.raises(InvalidInput) as refused:
        suppress(session, house, "zoe@example.org", ASKED, ANNA, note=note)
    assert refused.value.field == "note"


def test_the_same_address_twice_is_a_conflict(make_session: Make, house: UUID) -> None:
    with make_session.begin() as session:
        suppress(session, house, "zoe@example.org", ASKED, ANNA)
        with pytest.raises(Conflict):
            suppress(session, house, "ZOE@example.org", ASKED, ANNA)


def test_who_unsubscribed_can_be_stopped_altogether(
    make_session: Make, house: UUID
) -> None:
    with make_session.begin() as session:
        assert unsubscribe(session, house, "zoe@example.org")
        assert not unsubscribe(session, house, "zoe@example.org")
        suppress(session, house, "zoe@example.org", ASKED, ANNA)
        assert not unsubscribe(session, house, "zoe@example.org")

    assert listed(make_session) == [("zoe@example.org", "asked", ANNA.name)]
    assert audited(make_session) == [
        ("the recipient", "suppression.added"),
        (ANNA.name, "suppression.added"),
    ]


def test_lifting_takes_it_off_and_is_audited(make_session: Make, house: UUID) -> None:
    with make_session.begin() as session:
        row = suppress(session, house, "zoe@example.org", ASKED, ANNA)
    with make_session.begin() as session:
        assert lift(session, row.id, ANNA).address == "zoe@example.org"

    assert listed(make_session) == []
    assert audited(make_session)[-1] == (ANNA.name, "suppression.lifted")
    with make_session.begin() as session, pytest.raises(NotFound):
        lift(session, row.id, ANNA)


def test_each_congregation_has_a_list_of_its_own(
    make_session: Make, house: UUID
) -> None:
    with make_session.begin() as session:
        other = factories.congregation(session, "other")
        unsubscribe(session, house, "zoe@example.org")
        assert unsubscribe(session, other, "zoe@example.org")
        with pytest.raises(NotFound):
            unsubscribe(session, new_id(), "zoe@example.org")
        with pytest.raises(NotFound):
            suppress(session, new_id(), "zoe@example.org", ASKED, ANNA)
