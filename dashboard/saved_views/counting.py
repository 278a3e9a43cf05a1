"""How many rows a view shows: one bounded question each, remembered for a minute."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import g, url_for
from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.exports.sources import SOURCES
from dashboard.operators.models import Operator
from dashboard.saved_views.keeping import seen_by
from dashboard.search.kinds import SEARCHED
from dashboard.security import current_operator
from dashboard.zones import own_zone
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.models import SavedView
from tasks.operations.bulk import count

#: A number is counted anew after so many seconds.
KEPT_SECONDS: Final = 60.0
#: Views that the first page counts for their warnings.
ALARMS_MAX: Final = 5
_KEPT_MAX: Final = 2_000
#: What was asked, of whose rows -> when it was counted, and how many there were.
_kept: dict[tuple[Any, ...], tuple[float, int | None]] = {}


@dataclass(frozen=True, slots=True)
class Counted:
    """A view, and how many rows it shows."""

    view: SavedView
    n: int | None  # to ``COUNT_CAP``; None: its filter cannot be read any more
    is_known: bool = True  # False: it was not counted within the last minute

    @property
    def url(self) -> str:
        """The address of the filtered list."""
        return url_of(self.view)

    @property
    def is_alarming(self) -> bool:
        """Whether there are as many rows as make it a warning."""
        at = self.view.alert_at
        return at is not None and self.n is not None and self.n >= at


def url_of(view: SavedView) -> str:
    """Return the address of the list that a view shows."""
    return url_for(SEARCHED[view.list_name].endpoint, **view.filter)


def known(view: SavedView) -> Counted:
    """Return a view with its number if that is known; asks no database."""
    found = _kept.get(_key(view))
    if found is None or time.monotonic() - found[0] > KEPT_SECONDS:
        return Counted(view, None, is_known=False)
    return Counted(view, found[1])


def counted(session: Session, view: SavedView) -> Counted:
    """Return a view with its number, which may be a minute old."""
    found = known(view)
    if found.is_known:
        return found
    if len(_kept) >= _KEPT_MAX:
        _kept.clear()
    n = _n(session, view)
    _kept[_key(view)] = (time.monotonic(), n)
    return Counted(view, n)


def alarming(session: Session, operator: Operator) -> Sequence[Counted]:
    """Return views that warn, of the first ``ALARMS_MAX`` that may."""
    may_warn = select(SavedView).where(
        seen_by(operator), SavedView.alert_at.is_not(None)
    )
    order = (SavedView.list_name, SavedView.name, SavedView.id)
    found = session.scalars(may_warn.order_by(*order).limit(ALARMS_MAX)).all()
    return [one for view in found if (one := counted(session, view)).is_alarming]


def _key(view: SavedView) -> tuple[Any, ...]:
    # Of operations, everybody also sees those that they asked for themselves.
    whose = current_operator().id if view.list_name == "operations" else None
    # What "today" is, the clock of who looks says.
    return view.id, view.changed_at, g.scope, whose, str(own_zone())


def _n(session: Session, view: SavedView) -> int | None:
    try:
        source = SOURCES[view.list_name](session, utcnow(), view.filter)
    except InvalidInput:  # saved when a field or a word was still known
        return None
    return count(session, source.ids, COUNT_CAP)
