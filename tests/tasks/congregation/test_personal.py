"""The register of what is known of people is complete, and all of it can be done."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import Boolean, Table

import dashboard.operators.models  # noqa: F401  # its tables join the metadata
from tasks.congregation.elsewhere import ELSEWHERE
from tasks.congregation.fates import Derive, Erase, Keep, People, Personal
from tasks.congregation.personal import LINKS_ONLY, MENTIONS, REGISTER
from tasks.models import Base, new_id

#: Tables of people; whatever points to one of them has to be looked at.
ROOTS = {"members", "accounts"}


def _points_to_people(table: Table) -> bool:
    return any(key.column.table.name in ROOTS for key in table.foreign_keys)


def test_every_table_that_points_to_people_is_in_the_register() -> None:
    known = {each.table.name for each in REGISTER}
    known |= {model.__tablename__ for model in LINKS_ONLY}
    pointing = {t.name for t in Base.metadata.sorted_tables if _points_to_people(t)}
    assert (pointing | ROOTS) - known == set(), (
        "say in tasks/congregation/personal.py what becomes of these tables"
    )


@pytest.mark.parametrize("personal", REGISTER, ids=lambda each: each.table.name)
def test_every_column_has_a_fate(personal: Personal) -> None:
    if personal.columns is None:  # the whole row goes
        return
    columns = {column.name for column in personal.table.columns}
    assert personal.columns.keys() == columns, (
        "say in tasks/congregation/personal.py what becomes of these columns"
    )
    for name, fate in personal.columns.items():
        column = personal.table.c[name]
        match fate:
            case Erase():
                can_be = column.nullable or isinstance(column.type, Boolean)
                assert can_be or column.type.python_type is str, name
            case Keep(because):
                assert because.endswith("."), name
            case Derive(value):
                people = People(new_id(), "xx", datetime.now(UTC), [])
                assert value(new_id(), people) is not None, name


def test_texts_in_which_people_are_named_exist() -> None:
    for texts in MENTIONS:
        assert set(texts.columns) <= set(texts.table.c.keys())


def test_every_other_table_of_a_congregation_says_why_nothing_is_erased() -> None:
    known = {each.table.name for each in (*REGISTER, *MENTIONS)}
    known |= {model.__tablename__ for model in LINKS_ONLY}
    of_congregations = {
        table.name
        for table in Base.metadata.sorted_tables
        if "congregation_id" in table.c
    }
    assert of_congregations == known | ELSEWHERE.keys(), (
        "say in tasks/congregation/personal.py or elsewhere.py what becomes of them"
    )
    assert known & ELSEWHERE.keys() == set()
