"""What a pause of a lane means, written down before somebody presses the button."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dashboard.filters import number
from dashboard.lanes.queries import LaneView
from tasks.lane import COUNT_CAP
from tasks.models import LaneRun
from tasks.saying import mark, say, say_many

#: What waits while a lane is paused, and what comes of it.
WAITS: Final[Mapping[str, str]] = {
    "executions": mark(
        "Mails, webhooks and messages of all rules wait. What is tied to a "
        "date is dropped if it is of no use any more when the lane goes on."
    ),
    "scheduled_jobs": mark(
        "Reminders and all else that dates lead to wait, and are late. "
        "Those that would come too late to help are not sent at all."
    ),
    "contact_due": mark(
        "Agents are not told of engagements that come due; they are told "
        "when the lane goes on."
    ),
    "fanout": mark(
        "Events reach no webhook endpoint; those that happen meanwhile follow."
    ),
    "deliveries": mark(
        "Webhook endpoints hear of nothing; all of it follows, oldest first."
    ),
    "email": mark(
        "Notification mails wait. What is undone meanwhile is left out of them."
    ),
    "thumbnail": mark("New documents have no thumbnail meanwhile."),
    "campaign": mark(
        "Campaigns start and end when the lane goes on, not on their day."
    ),
    "retention": mark("Nobody is forgotten meanwhile, though the law may ask for it."),
    "rescue": mark("What a dying worker leaves behind stays “running” meanwhile."),
    "operations": mark("Operations on many rows stand still where they are."),
}
_WAITS: Final = mark("What is due for it waits; nothing is lost.")
_SPAN: Final = timedelta(hours=1)


def consequences(session: Session, view: LaneView, now: datetime) -> str:
    """Return what a pause of the lane means, in a few sentences."""
    said = [
        say(
            "It takes nothing new until somebody resumes it; what it holds is finished."
        )
    ]
    if n := view.backlog.n_due:
        said.append(
            say_many(
                n,
                "%(n)s due rows wait already.",
                "%(n)s due rows wait already.",
                n=number(n, COUNT_CAP),
            )
        )
    moved = n_an_hour(session, view.lane.name, now)
    if moved:
        said.append(
            say_many(
                moved,
                "It moved %(n)s row in the last hour.",
                "It moved %(n)s rows in the last hour.",
            )
        )
    said.append(say(WAITS.get(view.lane.name, _WAITS)))
    return " ".join(said)


def n_an_hour(session: Session, lane: str, now: datetime) -> int:
    """Return how many rows the lane moved within the last hour."""
    wanted = select(func.sum(LaneRun.n_moved)).where(
        LaneRun.lane == lane, LaneRun.requested_at > now - _SPAN
    )
    return session.scalar(wanted) or 0
