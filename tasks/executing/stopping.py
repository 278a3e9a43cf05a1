"""What keeps a claimed execution from acting now: it ends, or it has to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.conditional import unmet_of
from tasks.automation.guard import why_not
from tasks.automation.hushing import hushed
from tasks.executing.claiming import Running
from tasks.executing.held_back import held_back
from tasks.executing.rates import waits
from tasks.executing.verdicts import Verdict, defer, refuse, stop
from tasks.models.base import Json
from tasks.models.reason import Reason
from tasks.models.rule import Rule


def stopped(
    session: Session,
    rows: Sequence[Running],
    rules: Mapping[UUID, Rule],
    contexts: Mapping[UUID, Json],
    recipients: Mapping[UUID, str | None],
    now: datetime,
    held: Mapping[UUID, bool],
) -> dict[UUID, Verdict | None]:
    """Return the verdicts on what must not act now; the others may.

    ``None``: it cannot be told before the rows are let go.

    Args:
        rows: in the order in which they are due.
        recipients: whom those go to whose message could be made; only they get a turn
            of a rate limit.
        held: the rules with a limit, as ``rates.hold`` has them.
    """
    stops = hushed(session, rows, rules, now) | why_not(
        session, rows, now=now, recipients=recipients, rules=rules
    )
    false = unmet_of(rows, rules, contexts)
    verdicts: dict[UUID, Verdict | None] = {}
    for row in rows if stops or false else ():
        if (why := stops.get(row.id)) is not None:
            verdicts[row.id] = stop(row.claim, why)
        elif (detail := false.get(row.id)) is not None:
            verdicts[row.id] = refuse(row.claim, Reason.CONDITION_FALSE, detail)
    verdicts = {**held_back(session, rows, now), **verdicts}  # what must end, ends
    if not held:
        return verdicts
    ready = [row for row in rows if row.id in recipients and row.id not in verdicts]
    of = {row.id: rules[row.rule_id] for row in ready}
    claims = {row.id: row.claim for row in ready}
    waiting = waits(session, list(claims.values()), of, now, held)
    for id_, wait in waiting.items():
        claim = claims[id_]
        verdicts[id_] = defer(claim, wait.until, wait.sentence) if wait else None
    return verdicts
