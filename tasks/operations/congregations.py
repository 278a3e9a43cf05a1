"""What operators may do to congregations: make one, change what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.automation.zone_moves import move_congregation
from tasks.clock import utcnow
from tasks.errors import Conflict, NotFound
from tasks.models import Congregation, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.congregation_fields import (
    clean_locale,
    clean_name,
    clean_slug,
    clean_timezone,
)
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class CongregationChange:
    """What an operator may say about a congregation."""

    slug: str
    name: str
    locale: str
    timezone: str


def create_congregation(
    session: Session, change: CongregationChange, actor: Actor
) -> Congregation:
    """Add a congregation.

    Raises:
        InvalidInput: a field cannot be accepted; ``field`` names it.
        Conflict: another congregation has the slug.
    """
    made = Congregation(id=new_id(), **_checked(change))
    try:
        with session.begin_nested():
            session.add(made)
    except IntegrityError:
        raise _slug_taken(change) from None
    summary = f"Created the congregation {made.name}."
    subject = Subject("congregation", str(made.id), made.id)
    after = _facts(made)
    record(session, actor, "congregation.created", subject, summary, after=after)
    return made


def edit_congregation(
    session: Session,
    congregation_id: UUID,
    change: CongregationChange,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> bool:
    """Change a congregation; False when everything was so already.

    Another timezone moves the jobs of rules that go by local time; many of them are
    left to the lane "replanning" (``zone_moves.is_moving``).

    Raises:
        InvalidInput: a field cannot be accepted; ``field`` names it.
        Conflict: another congregation has the slug.
        NotFound: the session sees no such congregation.
    """
    values = _checked(change)
    # What points to it may be made meanwhile, by who holds jobs that we may move.
    lock = {"key_share": True}
    row = session.get(Congregation, congregation_id, with_for_update=lock)
    if row is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    before = _facts(row)
    if before == values:
        return False
    try:
        with session.begin_nested():
            for name, value in values.items():
                setattr(row, name, value)
    except IntegrityError:
        raise _slug_taken(change) from None
    summary = f"Changed the congregation {row.name}."
    subject = Subject("congregation", str(row.id), row.id)
    after = _facts(row)
    record(
        session,
        actor,
        "congregation.edited",
        subject,
        summary,
        before=before,
        after=after,
    )
    if before["timezone"] != row.timezone:
        move_congregation(session, row.id, before["timezone"], now=now or utcnow())
    return True


def _checked(change: CongregationChange) -> dict[str, str]:
    return {
        "slug": clean_slug(change.slug),
        "name": clean_name(change.name),
        "locale": clean_locale(change.locale),
        "timezone": clean_timezone(change.timezone),
    }


def _facts(row: Congregation) -> dict[str, Any]:
    return {
        "slug": row.slug,
        "name": row.name,
        "locale": row.locale,
        "timezone": row.timezone,
    }


def _slug_taken(change: CongregationChange) -> Conflict:
    return Conflict(
        "slug_taken",
        say(
            "Another congregation has the address “%(slug)s”; choose another.",
            slug=change.slug,
        ),
        field="slug",
    )
