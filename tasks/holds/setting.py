"""Setting a hold and lifting it: who, what, why and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.db import Scope, scope_of
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.holds.finding import find, holds_now, in_words, is_active
from tasks.models import Channel, Congregation, Hold, HoldKind, Rule
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import in_english, say

WHY_MAX: Final = 300
#: A hold that ends by itself ends within this time.
LONGEST: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class What:
    """What is to be held; what is None does not narrow it."""

    congregation_id: UUID | None = None
    channel: Channel | None = None
    rule_id: UUID | None = None


def hold(
    session: Session,
    what: What,
    why: str,
    actor: Actor,
    *,
    until: datetime | None = None,
    now: datetime,
) -> Hold:
    """Keep what is meant in the house, from the commit on.

    What an effect was begun for a moment ago is not called back.

    Raises:
        InvalidInput: the reason is missing or too long, or ``until`` is past or far.
        NotFound: the session sees no such congregation or rule.
        Conflict: the same is held already.
    """
    what, name = _named(session, what)
    why = _reason(why)
    _refuse_end(until, now)
    if _same(session, what, now) is not None:
        told = say(
            "This is held already: %(what)s. Lift that hold first, or wait for its "
            "end.",
            what=_in_words(what, name),
        )
        raise Conflict("held_already", told)
    row = Hold(
        kind=HoldKind.OPERATOR,
        congregation_id=what.congregation_id,
        channel=what.channel,
        rule_id=what.rule_id,
        why=why,
        held_by=actor.name,
        held_at=now,
        until=until,
    )
    session.add(row)
    session.flush()
    with in_english():
        audit(session, row, actor, "set", f"Held {_in_words(what, name)}: {why}")
    return row


def lift(
    session: Session, hold_id: UUID, actor: Actor, *, how: str, now: datetime
) -> bool:
    """End a hold; False: it had ended already.  What waits is for the caller to move.

    Args:
        how: what becomes of what waits, for the audit log.

    Raises:
        NotFound: the session sees no such hold.
    """
    row = find(session, hold_id, lock=True)
    if not is_active(row, now):
        return False
    row.lifted_at, row.lifted_by = now, actor.name
    session.flush()
    audit(session, row, actor, "lifted", f"Lifted a hold ({row.why}): {how}")
    return True


def audit(session: Session, row: Hold, actor: Actor, verb: str, summary: str) -> None:
    """Leave an entry about a hold."""
    after: dict[str, Any] = {
        "congregation_id": row.congregation_id and str(row.congregation_id),
        "channel": row.channel and row.channel.value,
        "rule_id": row.rule_id and str(row.rule_id),
        "why": row.why,
        "until": row.until and row.until.isoformat(),
    }
    subject = Subject("hold", str(row.id), row.congregation_id)
    record(session, actor, f"hold.{verb}", subject, summary, after=after)


def _in_words(what: What, name: str | None) -> str:
    return in_words(what.channel, is_rule=what.rule_id is not None, name=name)


def _named(session: Session, what: What) -> tuple[What, str | None]:
    """Return what is meant with its congregation, and the rule's or its name."""
    if what.rule_id is not None:
        rule = session.scalars(select(Rule).where(Rule.id == what.rule_id)).first()
        if rule is None or rule.deleted_at is not None:
            told = say("There is no such rule.")
            raise NotFound("unknown_rule", told, field="rule_id")
        return What(rule.congregation_id, what.channel, rule.id), rule.name
    if what.congregation_id is not None:
        wanted = select(Congregation.name).where(
            Congregation.id == what.congregation_id
        )
        name = session.scalar(wanted)
        if name is None:
            raise NotFound(
                "unknown_congregation",
                say("There is no such congregation."),
                field="congregation_id",
            )
        return what, name
    if scope_of(session) is not Scope.EVERY:
        raise InvalidInput(
            "not_everywhere",
            say(
                "Only operators of all congregations may hold what leaves for all of "
                "them."
            ),
            field="congregation_id",
        )
    return what, None


def _reason(why: str) -> str:
    why = " ".join(why.split())
    if not why:
        told = say("Say why; everybody sees it while it is held.")
        raise InvalidInput("why_missing", told, field="why")
    if len(why) > WHY_MAX:
        raise InvalidInput(
            "why_too_long",
            say(
                "The reason has %(n)s characters; at most %(max)s are kept.",
                n=str(len(why)),
                max=str(WHY_MAX),
            ),
            field="why",
        )
    return why


def _refuse_end(until: datetime | None, now: datetime) -> None:
    if until is None:
        return
    if until <= now:
        told = say("That is past already; give a later time.")
        raise InvalidInput("until_past", told, field="until")
    if until > now + LONGEST:
        raise InvalidInput(
            "until_far",
            say(
                "A hold ends within %(days)s days; leave it open instead.",
                days=LONGEST.days,
            ),
            field="until",
        )


def _same(session: Session, what: What, now: datetime) -> UUID | None:
    same = (
        Hold.congregation_id.is_not_distinct_from(what.congregation_id),
        Hold.channel.is_not_distinct_from(what.channel),
        Hold.rule_id.is_not_distinct_from(what.rule_id),
    )
    return session.scalar(select(Hold.id).where(*same, holds_now(now)).limit(1))
