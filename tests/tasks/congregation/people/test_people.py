"""Members come, change, leave and return; groups have somebody who answers for them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.congregation.names import folded
from tasks.congregation.people import contacts, enrolling, groups, leaving, members
from tasks.congregation.people.groups import GroupDraft
from tasks.congregation.people.members import MemberDraft
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    AuditEntry,
    Consent,
    EmergencyContact,
    Gender,
    Group,
    GroupMember,
    Member,
    new_id,
)
from tasks.operations.audit import Actor
from tests.support import factories, territory_rows
from tests.support.factories import NOW
from tests.support.territory_rows import TODAY

Begin = Callable[[], AbstractContextManager[Session]]
DAY = timedelta(days=1)
INES = Actor("ines@example.org", "127.0.0.1")
FAMILY = "👨\N{ZERO WIDTH JOINER}👩\N{ZERO WIDTH JOINER}👧"
NOEMIE = MemberDraft("Noémie", "Øster-Łukasz", gender="female", phone="+33 1 23")


@pytest.fixture
def tenant(sqlite_begin: Begin) -> UUID:
    with sqlite_begin() as session:
        return factories.congregation(session, timezone="Pacific/Noumea")


@pytest.fixture
def ids(sqlite_begin: Begin, tenant: UUID) -> list[UUID]:
    with sqlite_begin() as session:
        return [territory_rows.member(session, tenant) for _ in range(4)]


def _refused(begin: Begin, act: Callable[[Session], object]) -> tuple[str, str | None]:
    with pytest.raises(InvalidInput) as refused, begin() as session:
        act(session)
    return refused.value.code, refused.value.field


def test_a_member_is_taken_in_and_changed_and_the_audit_log_holds_no_value(
    sqlite_begin: Begin, tenant: UUID
) -> None:
    with sqlite_begin() as session:
        row = members.create_member(session, tenant, NOEMIE, INES, NOW)
        assert row.search_name == "oster-lukasz noemie"
        assert row.gender is Gender.FEMALE
        changed = replace(NOEMIE, email="Noemie@Example.ORG", first_name="Zoé")
        assert members.edit_member(session, row.id, changed, INES, NOW, version=1)
        assert not members.edit_member(session, row.id, changed, INES, NOW)
        assert (row.version, row.email) == (2, "noemie@example.org")
        assert row.search_name == "oster-lukasz zoe"
        told = session.scalars(select(AuditEntry)).all()
    assert told[1].summary == "Changed of a member: first_name, email."
    values = [(entry.summary, entry.before, entry.after) for entry in told]
    assert "zoé" not in str(values).lower()
    assert _refused(
        sqlite_begin,
        lambda s: members.edit_member(s, row.id, NOEMIE, INES, NOW, version=1),
    ) == ("changed_meanwhile", None)


@pytest.mark.parametrize(
    "text",
    ["Appeler\N{NO-BREAK SPACE}: à 8\N{NARROW NO-BREAK SPACE}h\n\tMerci", FAMILY],
)
def test_blanks_of_french_and_joined_pictures_are_kept(
    sqlite_begin: Begin, tenant: UUID, text: str
) -> None:
    draft = replace(NOEMIE, notes=text, last_name=f"Brandt {FAMILY}")
    with sqlite_begin() as session:
        id_ = members.create_member(session, tenant, draft, INES, NOW).id
    with sqlite_begin() as session:
        row = session.get_one(Member, id_)
        assert (row.notes, row.last_name) == (text, f"Brandt {FAMILY}")


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"first_name": " "}, "missing", "first_name"),
        ({"last_name": "x" * 121}, "too_long", "last_name"),
        ({"last_name": "a\0b"}, "unprintable", "last_name"),
        ({"notes": "a\N{RIGHT-TO-LEFT OVERRIDE}b"}, "unprintable", "notes"),
        ({"email": "nobody"}, "email_invalid", "email"),
        ({"gender": "many"}, "unknown_word", "gender"),
        # In Nouméa it is 11 p.m. of the same day.
        ({"birth_date": TODAY + DAY}, "day_ahead", "birth_date"),
        ({"joined_on": TODAY.replace(year=1)}, "day_out_of_range", "joined_on"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(
    sqlite_begin: Begin, tenant: UUID, changes: dict[str, Any], code: str, field: str
) -> None:
    draft = replace(NOEMIE, **changes)
    assert _refused(
        sqlite_begin, lambda s: members.create_member(s, tenant, draft, INES, NOW)
    ) == (code, field)


def test_a_member_leaves_and_comes_back(sqlite_begin: Begin, ids: list[UUID]) -> None:
    who = ids[0]
    with sqlite_begin() as session:
        leaving.leave(session, who, TODAY, INES, NOW)
        session.get_one(Member, who).noticed_at = NOW
    for act, code in (
        (lambda s: leaving.leave(s, who, TODAY, INES, NOW), "has_left"),
        (lambda s: leaving.leave(s, ids[1], TODAY + DAY, INES, NOW), "day_ahead"),
        (lambda s: leaving.come_back(s, ids[1], INES, NOW), "has_not_left"),
        (lambda s: leaving.leave(s, new_id(), TODAY, INES, NOW), "unknown_member"),
    ):
        assert _refused(sqlite_begin, act)[0] == code
    with sqlite_begin() as session:
        row = leaving.come_back(session, who, INES, NOW)
        assert (row.left_on, row.noticed_at) == (None, None)
        session.get_one(Member, ids[1]).joined_on = TODAY
        session.get_one(Member, ids[2]).anonymised_at = NOW
    assert _refused(
        sqlite_begin, lambda s: leaving.leave(s, ids[1], TODAY - DAY, INES, NOW)
    ) == ("left_before_joining", "left_on")
    assert _refused(
        sqlite_begin, lambda s: members.edit_member(s, ids[2], NOEMIE, INES, NOW)
    ) == ("anonymised", None)


def _contact(session: Session, who: UUID, name: str) -> EmergencyContact:
    return contacts.add_contact(
        session, who, name=name, phone="123", relation="brother", actor=INES
    )


def test_whom_to_call_and_what_was_agreed_to(
    sqlite_begin: Begin, ids: list[UUID]
) -> None:
    who = ids[0]
    with sqlite_begin() as session:
        row = _contact(session, who, "Paul")
        contacts.give_consent(session, who, "photo", INES, NOW)
    with pytest.raises(NotFound), sqlite_begin() as session:
        contacts.remove_contact(session, ids[1], row.id, INES)
    with pytest.raises(Conflict), sqlite_begin() as session:
        contacts.give_consent(session, who, "photo", INES, NOW)
    with pytest.raises(InvalidInput), sqlite_begin() as session:
        contacts.give_consent(session, who, "soul", INES, NOW)
    with sqlite_begin() as session:
        contacts.remove_contact(session, who, row.id, INES)
        contacts.withdraw_consent(session, who, "photo", INES, NOW)
        contacts.give_consent(session, who, "photo", INES, NOW)
        assert session.scalar(select(func.count()).select_from(EmergencyContact)) == 0
        given = session.scalars(select(Consent).order_by(Consent.id)).all()
        assert [each.withdrawn_at for each in given] == [NOW, None]
        assert given[0].ip == "127.0.0.1"
        for n in range(contacts.CONTACTS_MAX):
            _contact(session, who, f"{n}")
    assert _refused(sqlite_begin, lambda s: _contact(s, who, "x")) == ("too_many", None)


def test_a_group_has_one_head_and_its_members_are_in_no_other(
    sqlite_begin: Begin, tenant: UUID, ids: list[UUID]
) -> None:
    with sqlite_begin() as session:
        one = groups.create_group(session, tenant, GroupDraft("North", ids[0]), INES).id
        two = groups.create_group(
            session, tenant, GroupDraft("South", ids[1], ids[2]), INES
        ).id
        enrolling.add_member(session, one, ids[3], INES)
        enrolling.add_member(session, two, ids[3], INES)
        of = dict(
            session.execute(select(GroupMember.member_id, GroupMember.group_id)).all()
        )
    assert of == {ids[0]: one, ids[1]: two, ids[2]: two, ids[3]: two}

    def edited(draft: GroupDraft) -> tuple[str, str | None]:
        return _refused(sqlite_begin, lambda s: groups.edit_group(s, one, draft, INES))

    assert edited(GroupDraft("South", ids[0])) == ("name_taken", "name")
    assert edited(GroupDraft("North", None)) == ("missing", "responsible_id")
    assert edited(GroupDraft("North", ids[1])) == ("leads_group", "responsible_id")
    assert edited(GroupDraft("North", ids[0], ids[2])) == ("leads_group", "deputy_id")
    assert edited(GroupDraft("North", ids[0], ids[0])) == ("own_deputy", "deputy_id")
    assert edited(GroupDraft("North", new_id())) == ("unknown_member", "responsible_id")
    for act in (
        lambda s: enrolling.remove_member(s, two, ids[2], INES),
        lambda s: enrolling.add_member(s, one, ids[2], INES),
    ):
        assert _refused(sqlite_begin, act)[0] == "leads_group"
    with sqlite_begin() as session:
        session.get_one(Member, ids[3]).left_on = TODAY
    assert edited(GroupDraft("North", ids[3])) == ("has_left", "responsible_id")
    with sqlite_begin() as session:
        enrolling.remove_member(session, two, ids[3], INES)
        groups.delete_group(session, two, INES)
        nord = GroupDraft("Nord", ids[1], ids[0])
        seen = groups.edit_group(session, one, nord, INES).version - 1
        assert session.scalars(select(Group.name)).all() == ["Nord"]

    def late(session: Session) -> Group:
        draft = GroupDraft("North", ids[0])
        return groups.edit_group(session, one, draft, INES, version=seen)

    assert _refused(sqlite_begin, late)[0] == "changed_meanwhile"


def test_names_are_compared_without_marks_case_and_odd_blanks() -> None:
    assert folded("  ÉLODIE\u00a0 d’Œuvre-Straße ") == "elodie d’oeuvre-strasse"
    assert folded("İpek Đặng ŁÓDŹ") == "ipek dang lodz"
