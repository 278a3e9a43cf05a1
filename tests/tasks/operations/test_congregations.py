"""Congregations are made and changed with clear refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine, func, select

from tasks.db import Begin, congregation_session
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import AuditEntry, Congregation, new_id
from tasks.operations.audit import Actor
from tasks.operations.congregation_fields import timezones
from tasks.operations.congregations import (
    CongregationChange,
    create_congregation,
    edit_congregation,
)

ANNA = Actor("anna@example.org")
ST_MARY = CongregationChange("st-mary", "St. Mary", "en", "Europe/London")


def test_a_congregation_is_made_with_its_audit_entry(begin: Begin) -> None:
    with begin() as session:
        made = create_congregation(session, ST_MARY, ANNA)
    with begin() as session:
        found = session.get_one(Congregation, made.id)
        assert (found.slug, found.timezone) == ("st-mary", "Europe/London")
        entry = session.scalars(select(AuditEntry)).one()
        assert (entry.action, entry.subject_id) == (
            "congregation.created",
            str(made.id),
        )
        assert entry.congregation_id == made.id


def test_spaces_and_capitals_of_the_slug_are_mended(begin: Begin) -> None:
    with begin() as session:
        change = replace(ST_MARY, slug=" St-Mary ", name="  St. Mary ")
        made = create_congregation(session, change, ANNA)
        assert (made.slug, made.name) == ("st-mary", "St. Mary")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slug", ""),
        ("slug", "a b"),
        ("slug", "é"),
        ("slug", "-a"),
        ("slug", "a--b"),
        ("slug", "a" * 65),
        ("slug", "a/b"),
        ("slug", "new"),
        ("slug", "a\nb"),
        ("name", "  "),
        ("name", "x" * 121),
        ("name", "a\x00b"),
        ("name", "a\u202eb"),
        ("locale", "de"),
        ("locale", ""),
        ("timezone", "Mars/Base"),
        ("timezone", ""),
        ("timezone", "../../etc/passwd"),
        ("timezone", "localtime"),
        ("timezone", "europe/london"),
    ],
)
def test_what_cannot_be_accepted_is_refused_at_its_field(
    begin: Begin, field: str, value: str
) -> None:
    with begin() as session, pytest.raises(InvalidInput) as refused:
        create_congregation(session, replace(ST_MARY, **{field: value}), ANNA)
    assert refused.value.field == field
    assert refused.value.message.endswith(".")
    with begin() as session:
        assert session.scalar(select(func.count()).select_from(Congregation)) == 0
        assert session.scalar(select(func.count()).select_from(AuditEntry)) == 0


def test_a_slug_that_is_taken_is_a_conflict(begin: Begin) -> None:
    with begin() as session:
        create_congregation(session, ST_MARY, ANNA)
        other = create_congregation(session, replace(ST_MARY, slug="other"), ANNA)
    with begin() as session, pytest.raises(Conflict) as refused:
        create_congregation(session, ST_MARY, ANNA)
    assert refused.value.field == "slug"
    with begin() as session, pytest.raises(Conflict):
        edit_congregation(session, other.id, ST_MARY, ANNA)


def test_an_edit_keeps_before_and_after(begin: Begin) -> None:
    with begin() as session:
        made = create_congregation(session, ST_MARY, ANNA)
    with begin() as session:
        change = replace(ST_MARY, name="St. Mary's", timezone="UTC")
        assert edit_congregation(session, made.id, change, ANNA)
        assert not edit_congregation(session, made.id, change, ANNA)
    with begin() as session:
        entry = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "congregation.edited")
        ).one()
        assert entry.before is not None
        assert entry.after is not None
        assert (entry.before["timezone"], entry.after["timezone"]) == (
            "Europe/London",
            "UTC",
        )


def test_what_the_session_does_not_see_is_not_found(
    begin: Begin, engine: Engine
) -> None:
    with begin() as session:
        mine = create_congregation(session, ST_MARY, ANNA)
        other = create_congregation(session, replace(ST_MARY, slug="other"), ANNA)
    with congregation_session(engine, mine.id) as session, pytest.raises(NotFound):
        edit_congregation(session, other.id, replace(ST_MARY, slug="x"), ANNA)
    with begin() as session, pytest.raises(NotFound):
        edit_congregation(session, new_id(), ST_MARY, ANNA)


def test_the_timezones_offered_are_places_and_utc() -> None:
    assert "UTC" in timezones()
    assert "Europe/Berlin" in timezones()
    assert "localtime" not in timezones()
    assert all("/" in name for name in timezones() if name != "UTC")
