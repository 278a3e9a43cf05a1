"""A list of guests is looked at first and taken over once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.errors import NotFound
from tasks.lanes.janitor import sweep
from tasks.models import AuditEntry, EpisodeGuest
from tasks.operations.audit import SYSTEM
from tasks.operations.guest_imports import (
    Imported,
    discard_guests,
    get_guest_import,
    look_at_guests,
    take_guests,
    upload_guests,
)
from tests.support.fakes import FakePost, bench
from tests.tasks.automation.conftest import NOW, World, make_world

LIST = """Name,Email,Id
Ada Lovelace,ADA@example.org,
Zoë Lee,zoe@example.org,z-1
Zoë Again,zoe2@example.org,z-1
Nobody,not an address,
,bo@example.org,
Cy,,
"""


@pytest.fixture
def world(make_session: sessionmaker[Session]) -> World:
    return make_world(make_session, "bonifatius")


def _upload(world: World, text: str = LIST) -> Imported:
    with world.make_session.begin() as session:
        row = upload_guests(
            session, world.id, "show", "guests.csv", text.encode(), SYSTEM, now=NOW
        )
        world.list_id = row.id  # type: ignore[attr-defined]
        return look_at_guests(session, row, merge=True)


def _take(world: World, *, merge: bool = True) -> Imported:
    with world.make_session.begin() as session:
        id_ = world.list_id  # type: ignore[attr-defined]
        return take_guests(session, id_, SYSTEM, merge=merge)


def _guests(world: World) -> dict[str, EpisodeGuest]:
    with world.make_session() as session:
        return {row.name: row for row in session.scalars(select(EpisodeGuest))}


def test_every_row_is_told_with_its_line(world: World) -> None:
    lines = _upload(world).lines
    assert [(line.line, str(line.outcome)) for line in lines] == [
        (2, "changed"),
        (3, "new"),
        (4, "refused"),
        (5, "refused"),
        (6, "refused"),
        (7, "new"),
    ]
    assert lines[2].sentence == "It is the same guest as in line 3."
    assert "e-mail address" in lines[3].sentence
    assert lines[4].sentence == "The name is missing."


def test_looking_writes_nothing(world: World) -> None:
    _upload(world)
    assert set(_guests(world)) == {"Ada"}


def test_taking_adds_and_merges_and_is_audited(world: World) -> None:
    _upload(world)
    _take(world)
    found = _guests(world)
    assert set(found) == {"Ada Lovelace", "Zoë Lee", "Cy"}
    assert found["Ada Lovelace"].id == "g1"  # known by the address
    assert found["Ada Lovelace"].access_token == "let-me-in"
    assert (found["Zoë Lee"].id, found["Cy"].email) == ("z-1", None)
    with world.make_session() as session:
        entry = session.scalars(select(AuditEntry)).one()
    assert entry.summary == (
        "Imported guests from “guests.csv”: 1 changed, 2 new, 3 refused."
    )


def test_known_guests_stay_as_they_are_when_asked(world: World) -> None:
    _upload(world)
    _take(world, merge=False)
    assert "Ada" in _guests(world)


def test_the_same_list_twice_changes_nothing(world: World) -> None:
    _upload(world)
    _take(world)
    again = _upload(world)
    assert [str(line.outcome) for line in again.lines] == [
        "same",
        "same",
        "refused",
        "refused",
        "refused",
        "same",
    ]


def test_a_guest_of_another_podcast_is_refused(world: World) -> None:
    world.add(
        EpisodeGuest(congregation_id=world.id, id="o1", podcast_id="other", name="Otto")
    )
    [line] = _upload(world, "id,name\no1,Otto").lines
    assert "another podcast" in line.sentence


def test_an_odd_id_is_refused(world: World) -> None:
    [line] = _upload(world, "id,name\nö 1,Otto").lines
    assert "letters, digits" in line.sentence


def test_a_comma_too_many_moves_no_cell_into_another_column(world: World) -> None:
    [line] = _upload(world, "email,name\nz@example.org,Lee, Zoe").lines
    assert str(line.outcome) == "refused"
    assert "3 cells" in line.sentence


def test_a_list_is_taken_once(world: World) -> None:
    _upload(world)
    _take(world)
    with pytest.raises(NotFound, match="gone"):
        _take(world)


def test_a_list_can_be_thrown_away(world: World) -> None:
    _upload(world)
    with world.make_session.begin() as session:
        discard_guests(session, world.list_id)  # type: ignore[attr-defined]
    assert set(_guests(world)) == {"Ada"}


def test_a_list_that_nobody_took_is_gone_after_a_day(world: World) -> None:
    _upload(world)
    later = NOW + timedelta(hours=25)
    swept = sweep(bench(world.make_session, lambda: later, FakePost()), 10)
    assert len(swept.guest_lists) == 1
    with world.make_session() as session, pytest.raises(NotFound):
        get_guest_import(session, world.list_id)  # type: ignore[attr-defined]


def test_many_guests_are_taken_in_one_go(world: World) -> None:
    rows = "\n".join(f"Guest {n},guest{n}@example.org" for n in range(1200))
    _upload(world, f"name,email\n{rows}")
    assert _take(world).counts == {"new": 1200}
    assert len(_guests(world)) == 1201
