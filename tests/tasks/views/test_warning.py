"""Views that warn by mail: once when it begins, and again after it was well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes import rollups
from tasks.models import AdminMail, SavedView, ViewWarning, new_id
from tasks.views import warning
from tasks.views.reading import Seen
from tasks.views.warning import EVERY, LOOKED_MAX, QUIET_FOR
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ANNA, BEN = UUID(int=1), UUID(int=2)
LANGUAGES = {ANNA: "fr", BEN: None}


@dataclass
class Lists:
    """Stands for the console's lists: how many rows each person sees."""

    rows: dict[UUID, int | None]
    asked: list[UUID] = field(default_factory=list)

    def __call__(self, view: SavedView, _now: datetime) -> Sequence[Seen]:
        self.asked.append(view.id)
        return [
            Seen(one, f"p{one.int}@example.org", LANGUAGES[one], n)
            for one, n in self.rows.items()
        ]


def _view(make_session: Sessions, **values: object) -> UUID:
    with make_session.begin() as session:
        view = SavedView(
            **{
                "owner_id": ANNA,
                "owner": "p1@example.org",
                "list_name": "executions",
                "name": f"Failed {new_id()}",
                "filter": {"state": "failed"},
                "alert_at": 3,
                "by_mail": True,
                "look_at": NOW,
                "created_at": NOW,
                "changed_at": NOW,
            }
            | values
        )
        session.add(view)
        session.flush()
        return view.id


def _sweep(make_session: Sessions, lists: Lists | None, at: timedelta) -> None:
    rollups.sweep(bench(make_session, lambda: NOW + at, FakePost(), views=lists), 10)


def _mails(make_session: Sessions) -> list[AdminMail]:
    with make_session() as session:
        found = select(AdminMail).order_by(AdminMail.created_at, AdminMail.address)
        return list(session.scalars(found))


def test_it_is_told_once_in_each_language_and_not_while_it_goes_on(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        here = factories.congregation(session)
    view = _view(make_session, name="Failed ones", congregation_id=here)
    lists = Lists({ANNA: 3, BEN: 7})
    for at in (0 * EVERY, EVERY / 2, EVERY, QUIET_FOR, 2 * QUIET_FOR):
        _sweep(make_session, lists, at)
    assert len(lists.asked) == 4, "not before its turn"
    french, english = _mails(make_session)
    assert (french.address, french.language) == ("p1@example.org", "fr")
    assert "avertit" in french.subject
    assert (english.language, english.subject) == (
        "en",
        "The view “Failed ones” warns",
    )
    assert "3 rows or more" in english.body
    for mail in (french, english):
        assert (mail.path, mail.congregation_id) == (f"/views/{view}/rows", here)


def test_it_is_told_again_only_after_it_was_well_for_long(
    make_session: Sessions,
) -> None:
    _view(make_session)
    lists = Lists({ANNA: 3})
    told = []
    for minutes, n in ((0, 3), (10, 2), (20, 3), (65, 2), (70, 3), (80, 9)):
        lists.rows[ANNA] = n
        _sweep(make_session, lists, timedelta(minutes=minutes))
        told.append(len(_mails(make_session)))
    assert told == [1, 1, 1, 1, 2, 2]


def test_everybody_is_told_by_what_they_see_themselves(make_session: Sessions) -> None:
    _view(make_session)
    lists = Lists({ANNA: 2, BEN: None})
    _sweep(make_session, lists, 0 * EVERY)
    assert _mails(make_session) == []
    lists.rows = {ANNA: 3, BEN: None}
    _sweep(make_session, lists, EVERY)
    assert [mail.address for mail in _mails(make_session)] == ["p1@example.org"]
    lists.rows = {BEN: None}  # Anna is not to hear of it any more
    _sweep(make_session, lists, 2 * EVERY)
    with make_session() as session:
        assert session.scalars(select(ViewWarning)).all() == []


def test_what_is_not_to_be_mailed_is_not_counted(make_session: Sessions) -> None:
    _view(make_session, by_mail=False)
    _view(make_session, look_at=NOW + EVERY)
    lists = Lists({ANNA: 3})
    _sweep(make_session, lists, 0 * EVERY)
    assert lists.asked == []
    _sweep(make_session, None, EVERY)  # a process that knows no console
    _sweep(make_session, lists, EVERY)
    assert len(lists.asked) == 1


def test_a_sweep_looks_at_some_and_the_next_at_the_others(
    make_session: Sessions,
) -> None:
    views = {
        _view(make_session, look_at=NOW - timedelta(minutes=n))
        for n in range(LOOKED_MAX + 2)
    }
    lists = Lists({ANNA: 0})
    _sweep(make_session, lists, 0 * EVERY)
    assert len({*lists.asked}) == LOOKED_MAX
    _sweep(make_session, lists, timedelta(seconds=1))
    assert {*lists.asked} == views
    assert len(lists.asked) == len(views)


def test_one_that_cannot_be_counted_keeps_no_other_one_waiting(
    make_session: Sessions,
) -> None:
    bad = _view(make_session, look_at=NOW - EVERY)
    good = _view(make_session)
    lists = Lists({ANNA: 3})

    def fails_for_bad(view: SavedView, now: datetime) -> Sequence[Seen]:
        if view.id == bad:
            raise RuntimeError("a bug")
        return lists(view, now)

    desk = bench(make_session, lambda: NOW, FakePost(), views=fails_for_bad)
    with pytest.raises(RuntimeError):  # the lane's page tells of it
        rollups.sweep(desk, 10)
    rollups.sweep(desk, 10)
    assert lists.asked == [good]


def test_what_was_changed_while_it_was_counted_is_counted_anew(
    make_session: Sessions,
) -> None:
    view = _view(make_session)

    def changed_meanwhile(_view: SavedView, _now: datetime) -> Sequence[Seen]:
        with make_session.begin() as session:
            later = NOW + timedelta(seconds=1)
            session.execute(update(SavedView).values(changed_at=later, alert_at=9))
        return [Seen(ANNA, "p1@example.org", None, 3)]

    desk = bench(make_session, lambda: NOW, FakePost(), views=changed_meanwhile)
    assert warning.look_at_views(desk) == 0
    with make_session.begin() as session:
        warning.forget_warnings(session, session.get_one(SavedView, view), NOW)
        session.delete(session.get_one(SavedView, view))

    def deletes(one: SavedView, _now: datetime) -> Sequence[Seen]:
        with make_session.begin() as session:
            session.delete(session.get_one(SavedView, one.id))
        return [Seen(ANNA, "p1@example.org", None, 3)]

    _view(make_session)
    desk = bench(make_session, lambda: NOW, FakePost(), views=deletes)
    assert warning.look_at_views(desk) == 0
    assert _mails(make_session) == []
