"""What somebody deletes while somebody else changes it is told to be gone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.congregation.documents import sections
from tasks.congregation.documents.drafts import DocumentDraft, fill
from tasks.congregation.people import enrolling, groups
from tasks.congregation.people.groups import GroupDraft
from tasks.congregation.territories import giving, territories
from tasks.congregation.territories.giving import Gift
from tasks.congregation.territories.territories import TerritoryDraft
from tasks.db import sessions
from tasks.errors import InvalidInput, NotFound
from tasks.models import Document
from tasks.operations.audit import Actor
from tests.support import factories, territory_rows
from tests.support.factories import NOW
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until
from tests.support.territory_rows import TODAY

INES = Actor("ines@example.org")
Act = Callable[[Session, UUID, UUID], object]


def _group(session: Session, of: UUID, head: UUID) -> UUID:
    return groups.create_group(session, of, GroupDraft("North", head), INES).id


def _territory(session: Session, of: UUID, _head: UUID) -> UUID:
    return territory_rows.territory(session, of)


def _section(session: Session, of: UUID, _head: UUID) -> UUID:
    return sections.add_section(session, of, "Programme", INES).id


CASES: dict[str, tuple[Act, Act, Act]] = {
    "a group is edited": (
        _group,
        lambda session, id_, _: groups.delete_group(session, id_, INES),
        lambda session, id_, head: groups.edit_group(
            session, id_, GroupDraft("South", head), INES
        ),
    ),
    "somebody is put into a group": (
        _group,
        lambda session, id_, _: groups.delete_group(session, id_, INES),
        lambda session, id_, head: enrolling.add_member(session, id_, head, INES),
    ),
    "a territory is edited": (
        _territory,
        lambda session, id_, _: territories.delete_territory(session, id_, INES),
        lambda session, id_, _: territories.edit_territory(
            session, id_, TerritoryDraft("2"), INES
        ),
    ),
    "a territory is given out": (
        _territory,
        lambda session, id_, _: territories.delete_territory(session, id_, INES),
        lambda session, id_, head: giving.give(
            session, id_, Gift(head, TODAY, TODAY), INES, NOW
        ),
    ),
    "a section is renamed": (
        _section,
        lambda session, id_, _: sections.remove_section(session, id_, INES),
        lambda session, id_, _: sections.change_section(session, id_, "News", 1, INES),
    ),
}


@pytest.mark.parametrize(("make", "delete", "change"), CASES.values(), ids=CASES)
def test_who_comes_second_is_told_that_it_is_gone(
    postgres_engine: Engine, make: Act, delete: Act, change: Act
) -> None:
    begin = sessions(postgres_engine).begin
    with begin() as session:
        of = factories.congregation(session)
        head = territory_rows.member(session, of)
        id_ = make(session, of, head)
        assert isinstance(id_, UUID)
    found: list[Exception] = []

    def change_too() -> None:
        try:
            with begin() as session:
                change(session, id_, head)
        except Exception as error:  # noqa: BLE001  # the test looks at whatever it is
            found.append(error)

    other = threading.Thread(target=change_too)
    with begin() as session:
        delete(session, id_, head)
        other.start()
        until(lambda: waits_for_a_lock(postgres_engine))
    other.join(30)

    assert [type(error) for error in found] == [NotFound]


def test_a_document_in_a_section_that_goes_is_told_to_choose_another(
    postgres_engine: Engine,
) -> None:
    begin = sessions(postgres_engine).begin
    with begin() as session:
        of = factories.congregation(session)
        id_ = _section(session, of, of)
    found: list[InvalidInput] = []

    def put() -> None:
        try:
            with begin() as session:
                row = Document(congregation_id=of)
                fill(session, row, DocumentDraft("Minutes", id_))
        except InvalidInput as error:
            found.append(error)

    other = threading.Thread(target=put)
    with begin() as session:
        sections.remove_section(session, id_, INES)
        other.start()
        until(lambda: waits_for_a_lock(postgres_engine))
    other.join(30)

    assert [error.code for error in found] == ["unknown_section"]
