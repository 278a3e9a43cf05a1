from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, Session, sessionmaker

from dashboard.paging import Page, paginate
from tasks.errors import InvalidInput
from tasks.models import Congregation, new_id
from tests.conftest import NOW

NEWEST_FIRST = (Congregation.created_at.desc(), Congregation.id.desc())


@pytest.fixture
def session(make_session: sessionmaker[Session]) -> Iterator[Session]:
    """Yield a session over seven congregations, two of them equally old."""
    with make_session() as found:
        for n in range(7):
            age = timedelta(days=n // 2)
            row = Congregation(slug=f"c{n}", name=f"C{n}", created_at=NOW + age)
            found.add(row)
        found.flush()
        yield found


def page(session: Session, cursor: str | None = None) -> Page[Congregation]:
    return paginate(session, select(Congregation), NEWEST_FIRST, cursor, 3)


def slugs(found: Page[Congregation]) -> list[str]:
    return [row.slug for row in found.rows]


def test_every_row_comes_once_forwards_and_backwards(session: Session) -> None:
    first = page(session)
    second = page(session, first.next_cursor)
    third = page(session, second.next_cursor)

    everything = slugs(first) + slugs(second) + slugs(third)
    assert sorted(everything) == [f"c{n}" for n in range(7)]
    assert first.previous_cursor is None
    assert third.next_cursor is None
    assert slugs(page(session, third.previous_cursor)) == slugs(second)
    back = page(session, second.previous_cursor)
    assert slugs(back) == slugs(first)
    assert back.previous_cursor is None
    assert back.next_cursor == first.next_cursor


def test_a_new_row_at_the_start_moves_nothing(session: Session) -> None:
    first = page(session)
    session.add(Congregation(slug="new", name="N", created_at=NOW + timedelta(days=99)))
    session.flush()

    assert "new" not in slugs(page(session, first.next_cursor))
    assert len(set(slugs(first)) & set(slugs(page(session, first.next_cursor)))) == 0


def test_several_columns_come_as_rows_with_names(session: Session) -> None:
    found = paginate(
        session,
        select(Congregation, Congregation.slug.label("word")),
        (Congregation.slug,),
        None,
        2,
    )

    congregation, word = found.rows[0]
    assert (congregation.slug, word, found.rows[1].word) == ("c0", "c0", "c1")


def test_an_empty_list_is_one_page(session: Session) -> None:
    none = select(Congregation).where(Congregation.slug == "none")

    assert paginate(session, none, NEWEST_FIRST, None, 3) == Page([])


@pytest.mark.parametrize(
    "cursor",
    ["x", "\N{BELL}", "e30", "WyJhZnRlciJd", "WyJhZnRlciIsMSwyXQ", "a" * 5000, "//"],
)
def test_a_cursor_that_is_none_of_ours_is_refused(
    session: Session, cursor: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        page(session, cursor)

    assert caught.value.code == "bad_cursor"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Congregation.name, "St\0Mary"),
        (Congregation.name, "\ud800"),
        (Congregation.contact_daily_cap, 2**31),
        (Congregation.contact_daily_cap, -(10**30)),
        (Congregation.created_at, "0001-01-01T00:00:00+14:00"),
        (Congregation.created_at, "9999-12-31T23:59:59-12:00"),
    ],
)
def test_a_cursor_that_no_database_takes_is_refused(
    session: Session, column: InstrumentedAttribute[Any], value: str | int
) -> None:
    told = json.dumps(["after", value, str(new_id())]).encode()
    cursor = base64.urlsafe_b64encode(told).decode()
    with pytest.raises(InvalidInput) as caught:
        paginate(session, select(Congregation), (column, Congregation.id), cursor, 3)

    assert caught.value.code == "bad_cursor"
