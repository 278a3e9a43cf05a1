"""What the pages of explanations read besides the engine's own evidence."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.automation.entities import Record, kind_of, triggers_about
from tasks.errors import NotFound
from tasks.lane import COUNT_CAP
from tasks.models import Booking, Episode, Event, Rule
from tasks.saying import say


def rules_about(
    session: Session, record: Record, cursor: str | None, limit: int
) -> Page[Rule]:
    """Return a page of the congregation's rules that could be about a record."""
    statement = select(Rule).where(
        Rule.congregation_id == record.congregation_id,
        Rule.deleted_at.is_(None),
        Rule.trigger_type.in_(triggers_about(kind_of(record))),
    )
    return paginate(session, statement, (Rule.name, Rule.id), cursor, limit)


def n_other_rules(session: Session, record: Record) -> int:
    """Return how many rules are about other things; counting stops at ``COUNT_CAP``."""
    others = (
        select(Rule.id)
        .where(
            Rule.congregation_id == record.congregation_id,
            Rule.deleted_at.is_(None),
            Rule.trigger_type.not_in(triggers_about(kind_of(record))),
        )
        .limit(COUNT_CAP)
        .subquery()
    )
    return session.scalar(select(func.count()).select_from(others)) or 0


def has_event(session: Session, record: Record) -> bool:
    """Whether anything was ever reported that names the record."""
    if isinstance(record, Booking):
        column = Event.booking_id
    else:
        column = Event.episode_id if isinstance(record, Episode) else Event.guest_id
    named = select(Event.id).where(
        Event.congregation_id == record.congregation_id, column == record.id
    )
    return bool(session.scalar(select(exists(named))))


def rule_of(session: Session, record: Record, rule_id: UUID) -> Rule:
    """Return a rule of the record's congregation, also a deleted one.

    Raises:
        NotFound: the session sees none, or it belongs to another congregation.
    """
    found = session.get(Rule, rule_id)
    if found is None or found.congregation_id != record.congregation_id:
        raise NotFound("unknown_rule", say("There is no such rule."))
    return found
