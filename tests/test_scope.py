"""A session sees its congregations and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, delete, func, select, update

from tasks.db import (
    CongregationSession,
    Scope,
    congregation_id_of,
    congregation_session,
    sessions,
    set_scope,
)
from tasks.errors import NotFound, ScopeMissing
from tasks.models import Congregation, Podcast


def _twins(engine: Engine) -> tuple[UUID, UUID]:
    with sessions(engine).begin() as session:
        twins = [Congregation(slug=slug, name="Same") for slug in ("a", "b")]
        session.add_all(twins)
        session.flush()
        session.add_all(
            Podcast(congregation_id=twin.id, id="p", title=twin.slug) for twin in twins
        )
        return twins[0].id, twins[1].id


def _seen(engine: Engine, scope: Iterable[UUID]) -> list[str]:
    with CongregationSession(engine) as session:
        set_scope(session, frozenset(scope))
        return list(session.scalars(select(Podcast.title).order_by(Podcast.title)))


def test_each_scope_sees_its_own_rows(engine: Engine) -> None:
    a, b = _twins(engine)
    assert _seen(engine, [a]) == ["a"]
    assert _seen(engine, [b]) == ["b"]
    assert _seen(engine, [a, b]) == ["a", "b"]
    assert _seen(engine, []) == []


def test_without_a_scope_nothing_is_seen_or_counted(engine: Engine) -> None:
    _twins(engine)
    with CongregationSession(engine) as session:
        assert session.scalars(select(Podcast)).all() == []
        assert session.scalars(select(Congregation)).all() == []
        assert session.scalar(select(func.count()).select_from(Podcast)) == 0


def test_a_primary_key_of_another_congregation_finds_nothing(engine: Engine) -> None:
    a, b = _twins(engine)
    with CongregationSession(engine) as session:
        set_scope(session, frozenset({a}))
        assert session.get(Podcast, (b, "p")) is None
        assert session.get(Podcast, (a, "p")) is not None


def test_updates_and_deletes_stay_within_the_scope(engine: Engine) -> None:
    a, b = _twins(engine)
    with CongregationSession(engine) as session, session.begin():
        set_scope(session, frozenset({a}))
        session.execute(update(Podcast).values(title="changed"))
    assert _seen(engine, [b]) == ["b"]
    with CongregationSession(engine) as session, session.begin():
        set_scope(session, frozenset({a}))
        session.execute(delete(Podcast))
    assert _seen(engine, [a, b]) == ["b"]


def test_writing_a_row_of_another_congregation_is_refused(engine: Engine) -> None:
    a, b = _twins(engine)
    with CongregationSession(engine) as session:
        set_scope(session, frozenset({a}))
        session.add(Podcast(congregation_id=b, id="q", title="intruder"))
        with pytest.raises(ScopeMissing):
            session.flush()


def test_every_congregation_can_be_asked_for_by_name(engine: Engine) -> None:
    _twins(engine)
    with CongregationSession(engine) as session:
        set_scope(session, Scope.EVERY)
        assert len(session.scalars(select(Podcast)).all()) == 2


def test_a_congregation_is_found_by_its_short_name(engine: Engine) -> None:
    a, b = _twins(engine)

    assert congregation_id_of(engine, "a") == a
    assert congregation_id_of(engine, "b") == b
    with pytest.raises(NotFound, match="There is no congregation “c”"):
        congregation_id_of(engine, "c")


def test_a_short_name_in_place_of_an_id_is_told_at_once(engine: Engine) -> None:
    _twins(engine)
    wrong: Any = "a"

    with (
        pytest.raises(
            TypeError, match=r"'a' is no congregation's id.*congregation_id_of"
        ),
        congregation_session(engine, wrong),
    ):
        pass
