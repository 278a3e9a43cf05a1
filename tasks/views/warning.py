"""Mailing people that a view of theirs warns: once when it begins.

Shape: claim · count · settle, one view after the other.  A claim moves ``look_at``, so
a view whose rows cannot be counted keeps no other one waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, delete, literal_column, select
from sqlalchemy.orm import Session

from tasks.lane import Bench
from tasks.models.saved_view import SavedView, ViewWarning
from tasks.operations.admin_mails import (
    Telling,
    Words,
    mail_people,
    usual_language,
)
from tasks.saying import LANGUAGES, say
from tasks.saying.formats import decimal
from tasks.views.reading import Seen

#: Views counted in one sweep; those whose turn came first begin.
LOOKED_MAX: Final = 20
#: How often the rows of one view are counted.
EVERY: Final = timedelta(minutes=5)
#: What was told stays told for so long, however the rows come and go.
QUIET_FOR: Final = timedelta(hours=1)
# As the partial index has it, so that SQLite knows that it may use it.
_IS_MAILED: Final[ColumnElement[bool]] = literal_column("by_mail")


def look_at_views(bench: Bench) -> int:
    """Count the rows of views whose turn it is, and mail who sees too many.

    Returns how many mails were written.  Does nothing in a process that knows no
    console; another one looks.
    """
    n = 0
    if bench.views is None:
        return n
    for _ in range(LOOKED_MAX):
        now = bench.clock()
        with bench.begin() as session:
            view = _claim(session, now)
        if view is None or bench.stopping.is_set():
            break
        seen = bench.views(view, now)
        with bench.begin() as session:
            n += _settle(session, view, seen, now)
    return n


def _claim(session: Session, now: datetime) -> SavedView | None:
    view = session.scalars(
        select(SavedView)
        .where(_IS_MAILED, SavedView.look_at <= now)
        .order_by(SavedView.look_at, SavedView.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    ).first()
    if view is not None:
        view.look_at = now + EVERY
    return view


def _settle(
    session: Session, counted: SavedView, seen: Sequence[Seen], now: datetime
) -> int:
    # The lock keeps two workers from telling the same twice.
    view = session.scalars(
        select(SavedView).where(SavedView.id == counted.id).with_for_update()
    ).first()
    if view is None or view.changed_at != counted.changed_at:
        return 0  # it is another one by now, and counted anew
    of_view = select(ViewWarning).where(ViewWarning.saved_view_id == view.id)
    told = {row.operator_id: row for row in session.scalars(of_view)}
    fresh = [each for each in seen if _is_news(session, view, each, told, now)]
    for row in told.values():  # who is not to hear of it any more
        session.delete(row)
    _tell(session, view, fresh, now)
    return len(fresh)


def _is_news(
    session: Session,
    view: SavedView,
    seen: Seen,
    told: dict[UUID, ViewWarning],
    now: datetime,
) -> bool:
    """Note how it stands for one person, and say whether they are to be told."""
    row = told.pop(seen.operator_id, None)
    if seen.n is None or view.alert_at is None:
        return False
    warns = seen.n >= view.alert_at
    if row is None and warns:
        session.add(
            ViewWarning(
                saved_view_id=view.id, operator_id=seen.operator_id, warned_at=now
            )
        )
    elif row is not None and not warns and row.warned_at <= now - QUIET_FOR:
        session.delete(row)
    return row is None and warns


def _tell(
    session: Session, view: SavedView, people: Sequence[Seen], now: datetime
) -> None:
    if not people:
        return
    usual = usual_language(session, view.congregation_id)
    read = {
        one.address: one.language if one.language in LANGUAGES else usual
        for one in people
    }
    key = f"view:{view.id}:{now.isoformat()}"
    name, at = view.name, view.alert_at or 0

    def words() -> Words:
        subject = say("The view “%(name)s” warns", name=name)
        body = say(
            "The saved view “%(name)s” shows %(n)s rows or more, which is where it "
            "warns. You hear of it again only after there were fewer. Whoever may "
            "change the view can switch these mails off.",
            name=name,
            n=decimal(at),
        )
        return Words(subject, body)

    telling = Telling(key, f"/views/{view.id}/rows", words)
    mail_people(session, view.congregation_id, read, telling, now)


def forget_warnings(session: Session, view: SavedView, now: datetime) -> None:
    """Begin anew with a view that was changed.  Caller commits."""
    view.look_at = now
    session.execute(
        delete(ViewWarning)
        .where(ViewWarning.saved_view_id == view.id)
        .execution_options(synchronize_session=False)
    )
