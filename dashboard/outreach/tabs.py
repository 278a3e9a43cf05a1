"""The tabs above the engagements: what stands in each, in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, or_

from dashboard.paging import Key
from tasks.models import Engagement, WakeState
from tasks.outreach.finding import Wanted

_ANY: Final = Wanted()
_Condition = Callable[[datetime], ColumnElement[bool]]
_NEWEST_FIRST: Final[Sequence[Key]] = (Engagement.id.desc(),)
#: Armed engagements have an instant, so it may be sorted by.
_SOONEST_FIRST: Final[Sequence[Key]] = (Engagement.next_action_at, Engagement.id)


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab."""

    title: str
    when_empty: str  # a sentence for operators
    wanted: Wanted = _ANY
    condition: _Condition | None = None  # what more must hold, at that instant
    order: Sequence[Key] = _NEWEST_FIRST


def _awaits_reply(_now: datetime) -> ColumnElement[bool]:
    return and_(
        Engagement.first_outbound_at.is_not(None),
        or_(
            Engagement.last_inbound_at.is_(None),
            Engagement.last_inbound_at <= Engagement.first_outbound_at,
        ),
    )


_ARMED: Final = Wanted(state=WakeState.ARMED)
#: Word in the address -> tab.
TABS: Final[Mapping[str, Tab]] = {
    "": Tab("All", "Agents enrol contacts over the API; you can enrol one here."),
    "due": Tab(
        "Due",
        "No instant has come that was not announced: every agent has been woken.",
        _ARMED,
        lambda now: Engagement.next_action_at <= now,
        _SOONEST_FIRST,
    ),
    "held": Tab(
        "Held back",
        "Nothing that is due waits for quiet hours to end or for a daily cap.",
        Wanted(waiting=True),
        order=_SOONEST_FIRST,
    ),
    "upcoming": Tab(
        "Upcoming",
        "No agent has set an instant that is still to come.",
        _ARMED,
        lambda now: Engagement.next_action_at > now,
        _SOONEST_FIRST,
    ),
    "unanswered": Tab(
        "Waiting for a reply",
        "Whoever was written to has answered.",
        condition=_awaits_reply,
    ),
    "replied": Tab("Replied", "No contact has answered yet.", Wanted(replied=True)),
    "announced": Tab(
        "Announced",
        "No agent was woken for the present schedule of an engagement.",
        Wanted(state=WakeState.ANNOUNCED),
    ),
    "passed": Tab(
        "Passed",
        "No schedule passed because of a pause, a reply or a stopped address.",
        Wanted(state=WakeState.PASSED),
    ),
    "stopped": Tab(
        "Stopped",
        "Every engagement has a schedule.",
        Wanted(state=WakeState.IDLE),
    ),
    "suppressed": Tab(
        "Suppressed",
        "Every contact may be written to.",
        Wanted(suppressed=True),
    ),
    "set_aside": Tab(
        "Set aside",
        "An event could be made of everything that came due.",
        Wanted(state=WakeState.SET_ASIDE),
    ),
}
