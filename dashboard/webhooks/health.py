"""How endpoints fared within the last day, hour by hour."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, cast, extract, func, select
from sqlalchemy.orm import Session

from dashboard.zones import here, zone_sign
from tasks.models import Delivery, DeliveryState
from tasks.models.base import born_from
from tasks.saying import mark, say

#: How many hours the health of an endpoint looks back, the present one among them.
HOURS: Final = 24
_HOUR: Final = 3600  # seconds
#: How many deliveries stand where, in words.
_WORDS: Final[Mapping[str, str]] = {
    DeliveryState.PENDING: mark("%(n)s pending"),
    DeliveryState.RUNNING: mark("%(n)s running"),
    DeliveryState.DELIVERED: mark("%(n)s delivered"),
    DeliveryState.FAILED: mark("%(n)s failed"),
    DeliveryState.DISABLED: mark("%(n)s disabled"),
}


@dataclass(frozen=True, slots=True)
class Hour:
    """The deliveries that were made within one hour, by where they stand now."""

    at: datetime  # its beginning
    counts: Mapping[str, int]

    @property
    def tone(self) -> str:
        """The colour of its cell, as the states have them."""
        if not self.counts:
            return "quiet"
        if self.counts.get("failed") or self.counts.get("disabled"):
            return "bad"
        return "good" if set(self.counts) == {"delivered"} else "waiting"

    @property
    def since(self) -> str:
        """Its beginning, as the list of deliveries reads it."""
        return self.at.isoformat()

    @property
    def until(self) -> str:
        """Its end, as the list of deliveries reads it."""
        return (self.at + timedelta(seconds=_HOUR)).isoformat()

    @property
    def words(self) -> str:
        """What its cell says, by the operator's clock."""
        told = ", ".join(
            say(_WORDS[state], n=n) for state, n in sorted(self.counts.items())
        )
        return say(
            "%(at)s %(zone)s: %(told)s",
            at=f"{here(self.at):%H:%M}",
            zone=zone_sign(self.at),
            told=told or say("nothing"),
        )


@dataclass(frozen=True, slots=True)
class Health:
    """How an endpoint fared, the oldest hour first."""

    hours: Sequence[Hour] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many deliveries were made."""
        return sum(self.counts.values())

    def n(self, *states: str) -> int:
        """Return how many are in one of these states."""
        return sum(self.counts.get(state, 0) for state in states)


def healths(
    session: Session, ids: Sequence[UUID], now: datetime
) -> Mapping[UUID, Health]:
    """Return how each endpoint fared; one query."""
    last = int(now.timestamp()) // _HOUR
    first = last - HOURS + 1
    since = datetime.fromtimestamp(first * _HOUR, UTC)
    hour = cast(func.floor(extract("epoch", Delivery.created_at) / _HOUR), Integer)
    rows = session.execute(
        select(Delivery.endpoint_id, Delivery.state, hour, func.count())
        .where(Delivery.endpoint_id.in_(ids), Delivery.id >= born_from(since))
        .group_by(Delivery.endpoint_id, Delivery.state, hour)
    )
    found: defaultdict[UUID, defaultdict[int, Counter[str]]]
    found = defaultdict(lambda: defaultdict(Counter))
    for endpoint_id, state, number, n in rows:
        found[endpoint_id][number][state.value] += n
    return {
        id_: _health(found[id_], [since + timedelta(hours=n) for n in range(HOURS)])
        for id_ in ids
    }


def _health(by_hour: Mapping[int, Counter[str]], begins: Sequence[datetime]) -> Health:
    hours = [
        Hour(at, dict(by_hour.get(int(at.timestamp()) // _HOUR, {}))) for at in begins
    ]
    total: Counter[str] = Counter()
    for each in hours:
        total.update(each.counts)
    return Health(hours, dict(total))
