"""What campaigns do to the work on territories: a verb is one statement for all rows.

Regular work and the work of campaigns are two layers; no verb here touches both.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Row, case, exists, select, true, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.bulk import among
from tasks.congregation.days import a_day, days_between, plus_days
from tasks.models import Attribution, Campaign, CampaignTerritory, Method

#: A piece of the work: conditions on attributions.
Piece = ColumnElement[bool]
#: A row that was paused: id, member, territory, method.
Paused = Row[UUID, UUID, UUID, Method]
#: A row that was changed: id, member.
Changed = Row[UUID, UUID]


def covered(session: Session, campaign: Campaign) -> Piece:
    """Return what a campaign's scope covers; an empty scope covers every territory."""
    scope = CampaignTerritory.campaign_id == campaign.id
    if not session.scalar(select(exists().where(scope))):
        return true()
    return Attribution.territory_id.in_(
        select(CampaignTerritory.territory_id).where(scope)
    )


def everything() -> Piece:
    """Return the whole work."""
    return true()


def on_territories(session: Session, ids: Sequence[UUID]) -> Piece:
    """Return the work on these territories."""
    return among(session, Attribution.territory_id, ids)


def regular(campaign: Campaign) -> Piece:
    """Return the open regular work of the campaign's congregation."""
    return (
        (Attribution.congregation_id == campaign.congregation_id)
        & Attribution.ended_on.is_(None)
        & Attribution.campaign_id.is_(None)
    )


def begun(today: date) -> Piece:
    """Return the work that has begun: what begins later is not yet held by anybody."""
    return Attribution.started_on <= today


def to_postpone(campaign: Campaign, today: date) -> Piece:
    """Return the work that would begin while the campaign runs."""
    return (
        (Attribution.started_on > today)
        & (Attribution.started_on <= campaign.ends_on)
        & Attribution.paused_on.is_(None)
    )


def own(campaign: Campaign) -> Piece:
    """Return the open work of the campaign itself."""
    return (
        (Attribution.congregation_id == campaign.congregation_id)
        & (Attribution.campaign_id == campaign.id)
        & Attribution.ended_on.is_(None)
    )


def paused_by(campaign: Campaign) -> Piece:
    """Return the regular work that this campaign paused and nobody resumed since."""
    return regular(campaign) & (Attribution.paused_by_id == campaign.id)


def pause(
    session: Session, campaign: Campaign, piece: Piece, today: date
) -> list[Paused]:
    """Pause regular work that is under way; returns its rows, see ``Paused``."""
    rows = session.execute(
        update(Attribution)
        .where(regular(campaign), begun(today), Attribution.paused_on.is_(None), piece)
        .values(
            paused_on=today,
            paused_by_id=campaign.id,
            version=Attribution.version + 1,
        )
        .returning(
            Attribution.id,
            Attribution.member_id,
            Attribution.territory_id,
            Attribution.method,
        )
        .execution_options(synchronize_session=False)
    )
    return list(rows)


def postpone(
    session: Session, campaign: Campaign, piece: Piece, today: date
) -> list[Changed]:
    """Let regular work that would begin during the campaign begin the day after it.

    It keeps its length.  Pausing or closing what nobody holds yet would lose it.
    """
    after = a_day(campaign.ends_on + timedelta(days=1))
    where = regular(campaign) & to_postpone(campaign, today) & piece
    return _change(
        session,
        where,
        started_on=after,
        due_on=plus_days(
            Attribution.due_on, days_between(Attribution.started_on, after)
        ),
    )


def move_due(session: Session, campaign: Campaign, before: date) -> None:
    """Let the campaign's own work that was due at its old end be due at its new one."""
    due_then = own(campaign) & (Attribution.due_on == before)
    _change(session, due_then, due_on=campaign.ends_on)


def close(session: Session, piece: Piece, on: date) -> list[Changed]:
    """End work on ``on``, or on its first day if that is later; paused work as well."""
    return _change(
        session,
        piece,
        ended_on=_not_before(Attribution.started_on, on),
        paused_on=None,
        paused_by_id=None,
    )


def resume(session: Session, piece: Piece, today: date) -> list[Changed]:
    """Let paused work go on; it is due as many days later as it was paused."""
    return _change(
        session,
        piece & Attribution.paused_on.is_not(None),
        due_on=plus_days(
            Attribution.due_on, days_between(Attribution.paused_on, a_day(today))
        ),
        paused_on=None,
        paused_by_id=None,
    )


def _not_before(
    first: InstrumentedAttribute[date], day: date
) -> ColumnElement[date | None]:
    return case((first > day, first), else_=a_day(day))


def _change(session: Session, piece: Piece, **values: object) -> list[Changed]:
    changed = session.execute(
        update(Attribution)
        .where(piece)
        .values(values | {"version": Attribution.version + 1})
        .returning(Attribution.id, Attribution.member_id)
        .execution_options(synchronize_session=False)
    )
    return list(changed)
