"""How much rules make, and how much of it is usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.bulk import among, is_postgres
from tasks.models import Execution, Hold, HoldKind
from tasks.models.base import born_from
from tasks.models.hold import Channel
from tasks.models.volume import RuleVolume, VolumeLimit

#: So many times its busiest hour is unusual for a rule …
FACTOR: Final = 5
#: … but never so few executions in an hour.
LEAST: Final = 200
#: How far back the busiest hour is looked for, and how old a rule's history must be:
#: what has hardly begun has no usual volume.
HISTORY: Final = timedelta(days=14)
KNOWN_AFTER: Final = timedelta(hours=24)
#: For so long an approval lets a rule make as many more.
APPROVED_FOR: Final = timedelta(hours=24)
KEEP: Final = HISTORY + timedelta(days=1)
_TABLE: Final = RuleVolume.metadata.tables[RuleVolume.__tablename__]


@dataclass(frozen=True, slots=True)
class Usual:
    """What a rule may make within an hour."""

    above: int | None  # None: it is not held for its volume
    busiest: int | None  # hour before; None: not known, or its limit was set by hand


def hour_of(moment: datetime) -> datetime:
    """Return the start of the hour that a moment is in."""
    return moment.replace(minute=0, second=0, microsecond=0)


def count_new(session: Session, since: datetime, until: datetime) -> list[UUID]:
    """Add what was made within a span to its rules' hour; return those rules.

    Only what leaves the house counts.  What is committed long after it was made is not
    seen: this guards against floods, it keeps no books.  Caller commits.
    """
    made = session.execute(
        select(Execution.congregation_id, Execution.rule_id, func.count().label("n"))
        .where(
            Execution.id >= born_from(since),
            Execution.id < born_from(until),
            Execution.action.in_([each.value for each in Channel]),
        )
        .group_by(Execution.congregation_id, Execution.rule_id)
        .order_by(Execution.rule_id)
    ).all()
    hour = hour_of(until)
    rows = [{"hour": hour, **row._mapping} for row in made]
    if rows:
        session.execute(_add(is_postgres(session)), rows)
    return [row.rule_id for row in made]


def usual_of(
    session: Session, rule_ids: Sequence[UUID], now: datetime
) -> dict[UUID, Usual]:
    """Return what each rule may make within an hour; three queries."""
    limits = {
        row.rule_id: row.hold_above
        for row in session.scalars(
            select(VolumeLimit).where(among(session, VolumeLimit.rule_id, rule_ids))
        )
    }
    history = _history(session, rule_ids, now)
    approved = _approved(session, rule_ids, now)
    found: dict[UUID, Usual] = {}
    for rule_id in rule_ids:
        busiest = None
        if rule_id in limits:
            above = limits[rule_id]
        else:
            busiest = history.get(rule_id)
            above = None if busiest is None else max(LEAST, FACTOR * busiest)
        if above is not None:
            above += approved.get(rule_id, 0)
        found[rule_id] = Usual(above, busiest)
    return found


def forget_old(session: Session, now: datetime) -> None:
    """Remove hours that no rule is compared with any more; caller commits."""
    session.execute(delete(RuleVolume).where(RuleVolume.hour < now - KEEP))


def n_this_hour(session: Session, rule_id: UUID, now: datetime) -> int:
    """Return how many executions a rule has made in the hour that runs."""
    return counts_of(session, [rule_id], hour_of(now)).get(rule_id, (0, rule_id))[0]


@lru_cache
def _add(is_for_postgres: bool) -> postgresql.Insert | sqlite.Insert:
    insert = postgresql.insert if is_for_postgres else sqlite.insert
    made = insert(_TABLE)
    return made.on_conflict_do_update(
        index_elements=["rule_id", "hour"],
        set_={"n": _TABLE.c.n + made.excluded.n},
    )


def counts_of(
    session: Session, rule_ids: Sequence[UUID], hour: datetime
) -> dict[UUID, tuple[int, UUID]]:
    """Return each rule's number of the hour, and its congregation."""
    rows = session.scalars(
        select(RuleVolume)
        .where(among(session, RuleVolume.rule_id, rule_ids), RuleVolume.hour == hour)
        .execution_options(populate_existing=True)
    )
    return {row.rule_id: (row.n, row.congregation_id) for row in rows}


def _history(
    session: Session, rule_ids: Sequence[UUID], now: datetime
) -> Mapping[UUID, int]:
    """Return the busiest hour of rules whose history is long enough."""
    rows = session.execute(
        select(RuleVolume.rule_id, func.max(RuleVolume.n), func.min(RuleVolume.hour))
        .where(
            among(session, RuleVolume.rule_id, rule_ids),
            RuleVolume.hour >= now - HISTORY,
            RuleVolume.hour < hour_of(now),
        )
        .group_by(RuleVolume.rule_id)
    )
    return {
        rule_id: busiest
        for rule_id, busiest, first in rows
        if first <= now - KNOWN_AFTER
    }


def _approved(
    session: Session, rule_ids: Sequence[UUID], now: datetime
) -> Mapping[UUID, int]:
    rows = session.execute(
        select(Hold.rule_id, func.max(Hold.n_seen))
        .where(
            among(session, Hold.rule_id, rule_ids),
            Hold.kind == HoldKind.VOLUME,
            Hold.lifted_at > now - APPROVED_FOR,
        )
        .group_by(Hold.rule_id)
    )
    return {rule_id: n for rule_id, n in rows if rule_id is not None and n}
