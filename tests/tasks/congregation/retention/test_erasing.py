"""Anonymising: nothing of the person is found again, and the rest stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.automation.episodes import save_guest
from tasks.congregation.retention.anonymising import anonymise
from tasks.congregation.retention.holding import end_hold, hold
from tasks.congregation.retention.ledger import reapply
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    Account,
    Attribution,
    AuditEntry,
    Base,
    Contact,
    ContactSource,
    Erased,
    Erasure,
    Event,
    ExternalRef,
    Group,
    Member,
    Suppression,
    SuppressionReason,
    new_id,
)
from tasks.operations.suppressions import suppress
from tests.support import factories, people_rows, territory_rows
from tests.support.factories import NOW
from tests.support.people_rows import CLERK, Whole

Begin = Callable[[], AbstractContextManager[Session]]
TODAY = NOW.date()
LEFT = date(2025, 8, 31)


@pytest.fixture
def tenant(begin: Begin) -> UUID:
    with begin() as session:
        return factories.congregation(session, timezone="Europe/Paris", locale="fr")


@pytest.fixture
def person(begin: Begin, tenant: UUID) -> Whole:
    with begin() as session:
        return people_rows.whole(session, tenant, LEFT)


def everything(engine: Engine) -> Iterator[tuple[str, str]]:
    """Yield every value of every table as text, the way a dump would show it."""
    with engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            for row in connection.execute(select(table)):
                yield from ((table.name, text) for text in map(_text, row))


def _text(value: Any) -> str:
    kept = isinstance(value, dict | list)
    return json.dumps(value, ensure_ascii=False) if kept else str(value)


def found_of(engine: Engine, values: list[str]) -> list[tuple[str, str]]:
    return [
        (table, value)
        for table, text in everything(engine)
        for value in values
        if value.casefold() in text.casefold()
    ]


def erase(begin: Begin, member_id: UUID) -> None:
    with begin() as session:
        anonymise(session, member_id, CLERK, now=NOW)


def test_nothing_of_the_person_is_found_in_any_table_afterwards(
    engine: Engine, begin: Begin, person: Whole
) -> None:
    assert {value for _, value in found_of(engine, person.values)} == {*person.values}
    erase(begin, person.member_id)
    assert found_of(engine, person.values) == []


def test_what_is_left_says_that_somebody_was_there(
    begin: Begin, person: Whole, tenant: UUID
) -> None:
    erase(begin, person.member_id)
    with begin() as session:
        member = session.get_one(Member, person.member_id)
        assert member.first_name == "Ancien membre"
        assert member.last_name == f"#{person.member_id.hex[-10:]}"
        assert member.search_name == f"{member.last_name} ancien membre"
        assert (member.left_on, member.anonymised_at) == (LEFT, NOW)
        account = session.get_one(Account, person.account_id)
        assert account.email.endswith("@anonymised.invalid")
        assert not account.is_active
        assert session.scalars(select(Group.deputy_id)).all() == [None]
        ledger = session.scalars(select(Erasure).order_by(Erasure.entity_type)).all()
        assert [(each.entity_type, each.entity_id) for each in ledger] == [
            (Erased.ACCOUNT, person.account_id),
            (Erased.MEMBER, person.member_id),
        ]
        assert {each.requested_by for each in ledger} == {CLERK.name}
        (event,) = session.scalars(select(Event).where(Event.congregation_id == tenant))
        assert event.type == "member.anonymised"
        last = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()[-1]
        assert (last.action, last.actor) == ("member.anonymised", CLERK.name)


def test_texts_of_others_keep_all_but_the_words(begin: Begin, person: Whole) -> None:
    erase(begin, person.member_id)
    with begin() as session:
        notes = session.scalars(
            select(Attribution.notes).where(Attribution.member_id != person.member_id)
        ).one()
        assert notes == "Taken over from •••"
        given = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "territory.given")
        ).one()
        assert given.summary == "Gave territory 4 to •••."
        assert given.after == {"to": {"name": "•••"}, "seen": ["•••"]}
        assert given.before is None


def test_open_work_ends_today_and_is_paused_no_more(
    begin: Begin, person: Whole
) -> None:
    erase(begin, person.member_id)
    with begin() as session:
        rows = session.scalars(
            select(Attribution)
            .where(Attribution.member_id == person.member_id)
            .order_by(Attribution.started_on, Attribution.id)
        ).all()
        ends = [TODAY, TODAY, TODAY + timedelta(days=4)]  # the last had not begun
        assert [row.ended_on for row in rows] == ends
        assert {row.paused_on for row in rows} == {None}
        assert {row.version for row in rows} == {2}


def test_somebody_of_a_longer_name_keeps_it(begin: Begin, tenant: UUID) -> None:
    with begin() as session:
        ann = people_rows.left(session, tenant, LEFT, first_name="Ann", last_name="Lee")
        spare = territory_rows.member(session, tenant, notes="Ann Leeson and ann lee")
    erase(begin, ann)
    with begin() as session:
        assert session.get_one(Member, spare).notes == "Ann Leeson and •••"


def test_other_blanks_and_spellings_hide_nobody(begin: Begin, tenant: UUID) -> None:
    kept, typed = "ann@xn--bcher-kva.example", "Ann@Bücher.example"
    named = {"first_name": "Ann", "last_name": "Lee", "email": kept}
    notes = f"Ann\N{NO-BREAK SPACE}Lee, Lee\n Ann: {typed}, {kept}"
    with begin() as session:
        ann = people_rows.left(session, tenant, LEFT, **named)
        spare = territory_rows.member(session, tenant, notes=notes)
    erase(begin, ann)
    with begin() as session:
        assert session.get_one(Member, spare).notes == "•••, •••: •••, •••"


def test_who_is_a_contact_too_stays_suppressed_there(
    begin: Begin, person: Whole, tenant: UUID
) -> None:
    with begin() as session:
        session.add(
            Contact(
                congregation_id=tenant,
                address="eleonore.qw@example.org",
                source=ContactSource.CONSOLE,
            )
        )
    erase(begin, person.member_id)
    with begin() as session:
        kept = session.scalars(select(Suppression.address)).all()
        assert kept == ["eleonore.qw@example.org"]


def test_who_is_a_guest_too_stays_suppressed_there(begin: Begin, tenant: UUID) -> None:
    given, kept = "Zoe@bücher.example", "zoe@xn--bcher-kva.example"
    with begin() as session:
        member = people_rows.left(session, tenant, LEFT, email=kept)
        save_guest(session, tenant, "g", podcast_id="show", name="Z", email=given)
        suppress(session, tenant, given, SuppressionReason.ASKED, CLERK, now=NOW)
    erase(begin, member)
    with begin() as session:
        assert session.scalars(select(Suppression.address)).all() == [kept]


def test_it_is_refused_while_a_group_or_a_hold_needs_the_member(
    begin: Begin, tenant: UUID
) -> None:
    with begin() as session:
        head = people_rows.left(session, tenant, LEFT)
        people_rows.responsible(session, tenant, "South", head)
        held = people_rows.left(session, tenant, LEFT)
        hold(session, held, TODAY, "Court case", CLERK, now=NOW)
    for member_id, code in ((head, "is_responsible"), (held, "on_hold")):
        with pytest.raises(Conflict) as refused:
            erase(begin, member_id)
        assert refused.value.code == code
    with begin() as session:
        assert end_hold(session, held, CLERK, now=NOW)
        assert not end_hold(session, held, CLERK, now=NOW)
    erase(begin, held)
    with pytest.raises(Conflict) as refused:
        erase(begin, held)
    assert refused.value.code == "anonymised_already"
    with pytest.raises(NotFound):
        erase(begin, new_id())


def test_a_wrong_name_erases_nobody_and_who_had_not_left_leaves_today(
    begin: Begin, tenant: UUID
) -> None:
    with begin() as session:
        one = territory_rows.member(session, tenant)
    with begin() as session, pytest.raises(InvalidInput, match="Noémie Brandt"):
        anonymise(session, one, CLERK, now=NOW, typed_name="Brandt")
    with begin() as session:
        anonymise(session, one, CLERK, now=NOW, typed_name=" Noémie  Brandt ")
        assert session.get_one(Member, one).left_on == TODAY


def test_nobody_comes_back_with_an_import(
    engine: Engine, begin: Begin, person: Whole, tenant: UUID
) -> None:
    erase(begin, person.member_id)
    with begin() as session:
        _restore(session, person)
        anew = people_rows.left(session, tenant, LEFT, last_name="Quasnikoff-Wójcik")
        ref = {"congregation_id": tenant, "source": "old", "entity": "members"}
        session.add(ExternalRef(**ref, external_id="17", row_id=anew))
        session.add(
            Erasure(
                congregation_id=tenant,
                entity_type=Erased.MEMBER,
                entity_id=new_id(),
                external_ref="old/members/17",
                requested_by="somebody",
            )
        )
    with begin() as session:
        assert reapply(session, tenant, NOW) == 2
    assert found_of(engine, person.values) == []
    with begin() as session:
        assert reapply(session, tenant, NOW) == 0


def _restore(session: Session, person: Whole) -> None:
    """Write what an old archive knows over what is left."""
    member = session.get_one(Member, person.member_id)
    member.first_name, member.last_name = person.values[:2]
    member.anonymised_at = None
    account = session.get_one(Account, person.account_id)
    account.email, account.name, account.is_active = *person.values[8:10], True
