"""Telling: what settles, what takes whose place, what is cancelled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.notifications import News, notify, notify_all
from tasks.congregation.notifications.kind import WAIT_MAX
from tasks.congregation.notifications.kinds import KINDS
from tasks.errors import InvalidInput
from tasks.models import Notification, NotificationState, Reason
from tests.support import factories, notification_rows
from tests.support.factories import NOW

Begin = Callable[[], AbstractContextManager[Session]]
MINUTE = timedelta(minutes=1)


def created(title: str = "Letter", **values: Any) -> News:
    return News("document.created", "d1", {"title": title}, **values)


def deleted() -> News:
    return News("document.deleted", "d1", {"title": "Letter"})


def rows(session: Session, of: UUID) -> list[Notification]:
    found = select(Notification).filter_by(congregation_id=of)
    return [*session.scalars(found.execution_options(populate_existing=True))]


def test_more_of_the_same_takes_the_place_of_what_settles_and_waits_anew(
    begin: Begin,
) -> None:
    with begin() as session:
        of = factories.congregation(session)
        notify(session, of, created("First"), NOW)
        notify(session, of, created("Second"), NOW + 7 * MINUTE)
        (row,) = rows(session, of)
    assert row.payload == {"title": "Second"}
    assert (row.n_merged, row.first_at) == (2, NOW)
    assert row.settles_at == NOW + 17 * MINUTE


def test_steady_changes_wait_no_longer_than_an_hour(begin: Begin) -> None:
    with begin() as session:
        of = factories.congregation(session)
        for minute in range(0, 60, 6):
            notify(session, of, created(), NOW + minute * MINUTE)
        (row,) = rows(session, of)
    assert row.settles_at == NOW + WAIT_MAX
    assert {kind.longest for kind in KINDS.values()} == {timedelta(0), WAIT_MAX}


def test_news_of_one_call_that_are_the_same_are_one(begin: Begin) -> None:
    with begin() as session:
        of = factories.congregation(session)
        told = notify_all(session, of, [created("A"), created("B")], NOW)
        (row,) = rows(session, of)
    assert (told.n_settling, row.n_merged, row.payload) == (1, 2, {"title": "B"})


def test_an_other_type_entity_recipient_or_congregation_is_something_else(
    begin: Begin,
) -> None:
    with begin() as session:
        of = factories.congregation(session)
        other = factories.congregation(session, "other")
        anna = notification_rows.account(session, of)
        notify(session, of, created(), NOW)
        notify(session, of, created(account_id=anna), NOW)
        notify(session, of, created(duty="administrator"), NOW)
        notify(session, of, News("document.created", "d2", {"title": "x"}), NOW)
        notify(session, of, News("document.updated", "d1", {"title": "x"}), NOW)
        notify(session, other, created(), NOW)
        assert len(rows(session, of)) == 5
        assert len(rows(session, other)) == 1


def test_what_is_removed_before_anybody_heard_of_it_is_not_told(begin: Begin) -> None:
    with begin() as session:
        of = factories.congregation(session)
        other = factories.congregation(session, "other")
        for one in (of, other):
            notify(session, one, created(), NOW)
        told = notify(session, of, deleted(), NOW + MINUTE)
        (row,) = rows(session, of)
        (theirs,) = rows(session, other)
    assert (told.n_settling, told.n_cancelled) == (0, 1)
    assert (row.state, row.reason) == (NotificationState.CANCELLED, Reason.UNDONE)
    assert row.ended_at == NOW + MINUTE
    assert theirs.state is NotificationState.PENDING


def test_what_was_known_is_told_to_be_gone_at_once(begin: Begin) -> None:
    with begin() as session:
        of = factories.congregation(session)
        notify(session, of, deleted(), NOW)
        (row,) = rows(session, of)
    assert (row.type, row.settles_at) == ("document.deleted", NOW)


def test_the_opposite_takes_the_place_and_is_told_where_the_table_says_so(
    begin: Begin,
) -> None:
    with begin() as session:
        of = factories.congregation(session)
        anna = notification_rows.account(session, of)
        values: dict[str, Any] = {"account_id": anna}
        said = {"campaign": "Easter"}
        notify(session, of, News("territory.paused", "a1", said, **values), NOW)
        notify(session, of, News("territory.resumed", "a1", said, **values), NOW)
        notify(session, of, News("territory.given", "a2", **values), NOW)
        notify(session, of, News("territory.withdrawn", "a2", **values), NOW)
        found = {row.type: row.state for row in rows(session, of)}
    assert found == {
        "territory.paused": NotificationState.CANCELLED,
        "territory.resumed": NotificationState.PENDING,
        "territory.given": NotificationState.CANCELLED,
    }


def test_a_member_is_told_on_every_active_account(begin: Begin) -> None:
    with begin() as session:
        of = factories.congregation(session)
        anna = notification_rows.member(session, of)
        nobody = notification_rows.member(session, of, "Otto")
        for name, is_active in (("a", True), ("b", True), ("c", False)):
            notification_rows.account(
                session, of, name, member_id=anna, is_active=is_active
            )
        news = [News("territory.given", "x", member_id=id_) for id_ in (anna, nobody)]
        assert notify_all(session, of, news, NOW).n_settling == 2


def test_nobody_is_told_of_own_deeds_unless_they_wait_for_the_news(
    begin: Begin,
) -> None:
    with begin() as session:
        of = factories.congregation(session)
        anna = notification_rows.account(session, of)
        own: dict[str, Any] = {"account_id": anna, "actor_id": anna}
        given = notify(session, of, News("territory.given", "a1", **own), NOW)
        export = notify(session, of, News("data_transfer.exported", "t1", **own), NOW)
    assert (given.n_settling, export.n_settling) == (0, 1)


def test_news_that_are_not_as_their_type_wants_them_are_refused(begin: Begin) -> None:
    with begin() as session:
        of = factories.congregation(session)
        for news, code in (
            (News("document.burnt", "d1"), "unknown_type"),
            (News("document.created", "d1"), "bad_payload"),
            (News("document.created", "d1", {"title": 3}), "bad_payload"),
            (News("retention.notice", "m1", {"on": NOW}), "bad_payload"),
            (News("territory.given", "a1"), "nobody_to_tell"),
        ):
            with pytest.raises(InvalidInput) as refused:
                notify(session, of, news, NOW)
            assert refused.value.code == code


def test_days_are_kept_as_days(begin: Begin) -> None:
    with begin() as session:
        of = factories.congregation(session)
        said = {"on": date(2026, 4, 1)}
        notify(session, of, News("retention.notice", "m1", said), NOW)
        (row,) = rows(session, of)
    assert row.payload == {"on": "2026-04-01"}
    assert row.settles_at == datetime(2026, 3, 10, 12, tzinfo=UTC)
