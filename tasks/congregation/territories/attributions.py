"""Work on a territory that goes on: given back, paused, resumed, due another day."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.days import local_day, locked
from tasks.congregation.notifications.telling import News, notify
from tasks.congregation.territories.giving import AWAY_MAX
from tasks.congregation.territories.territories import note, territory
from tasks.congregation.texts import some_day
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Attribution
from tasks.operations.audit import Actor
from tasks.saying import say


def give_back(
    session: Session,
    attribution_id: UUID,
    on: date | None,
    actor: Actor,
    now: datetime,
) -> Attribution:
    """End work on a territory; paused work can be given back as well.

    Raises:
        InvalidInput: the day lies ahead, or before its first one.
        Conflict: it has ended.
        NotFound: the session sees no such attribution.
    """
    row, today = _open(session, attribution_id, now)
    ended_on = some_day(on, "ended_on", what=say("The last day"))
    if not row.started_on <= ended_on <= max(today, row.started_on):
        raise InvalidInput(
            "ended_out_of_range",
            say(
                "It began on %(first)s and today is %(today)s; its last day lies "
                "between the two.",
                first=row.started_on,
                today=today,
            ),
            field="ended_on",
        )
    row.ended_on = ended_on
    row.paused_on = row.paused_by_id = None
    _note(session, actor, row, "given_back", f"was given back on {ended_on}")
    news = News("territory.withdrawn", row.id, member_id=row.member_id)
    notify(session, row.congregation_id, news, now)
    return row


def pause(
    session: Session, attribution_id: UUID, actor: Actor, now: datetime
) -> Attribution:
    """Pause regular work: it is still held, and not late meanwhile.

    Raises:
        Conflict: it has ended, has not begun, is paused, or belongs to a campaign.
        NotFound: the session sees no such attribution.
    """
    row, today = _open(session, attribution_id, now)
    if row.campaign_id is not None:
        raise Conflict("of_campaign", say("Work of a campaign cannot be paused."))
    if row.paused_on is not None:
        said = say("It is paused since %(day)s.", day=row.paused_on)
        raise Conflict("is_paused", said)
    if row.started_on > today:
        said = say("It begins on %(day)s only.", day=row.started_on)
        raise Conflict("not_begun", said)
    row.paused_on = today
    _note(session, actor, row, "paused", "is paused")
    return row


def resume(
    session: Session, attribution_id: UUID, actor: Actor, now: datetime
) -> Attribution:
    """Let paused work go on; it is due as many days later as it was paused.

    Raises:
        Conflict: it has ended, or is not paused.
        NotFound: the session sees no such attribution.
    """
    row, today = _open(session, attribution_id, now)
    if row.paused_on is None:
        raise Conflict("not_paused", say("It is not paused."))
    row.due_on += max(today - row.paused_on, timedelta())
    row.paused_on = row.paused_by_id = None
    _note(session, actor, row, "resumed", f"goes on until {row.due_on}")
    return row


def postpone(
    session: Session,
    attribution_id: UUID,
    due_on: date | None,
    actor: Actor,
    now: datetime,
) -> Attribution:
    """Let work be due on another day.

    Raises:
        InvalidInput: the day is before its first one, or too far away.
        Conflict: it has ended.
        NotFound: the session sees no such attribution.
    """
    row, _ = _open(session, attribution_id, now)
    due = some_day(due_on, "due_on", what=say("The day on which it is due"))
    if not row.started_on <= due <= row.started_on + 2 * AWAY_MAX:
        raise InvalidInput(
            "due_out_of_range",
            say(
                "It began on %(day)s, and cannot be due before, nor years later.",
                day=row.started_on,
            ),
            field="due_on",
        )
    row.due_on = due
    _note(session, actor, row, "postponed", f"is due on {due}")
    return row


def attribution(session: Session, attribution_id: UUID) -> Attribution:
    """Return an attribution as it is now.

    Raises:
        NotFound: the session sees none.
    """
    row = session.scalar(
        select(Attribution)
        .where(Attribution.id == attribution_id)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise NotFound("unknown_attribution", say("There is no such attribution."))
    return row


def _open(
    session: Session, attribution_id: UUID, now: datetime
) -> tuple[Attribution, date]:
    """Return open work and its congregation's day, the congregation locked."""
    found = attribution(session, attribution_id)
    today = local_day(now, locked(session, found.congregation_id).timezone)
    row = attribution(session, attribution_id)  # a campaign may have moved it
    if row.ended_on is not None:
        said = say("It has ended on %(day)s.", day=row.ended_on)
        raise Conflict("has_ended", said)
    return row, today


def _note(
    session: Session, actor: Actor, row: Attribution, verb: str, said: str
) -> None:
    row.version += 1
    ground = territory(session, row.territory_id)
    summary = f"The work on territory {ground.number} {said}."
    note(session, actor, ground, f"territory.{verb}", summary)
