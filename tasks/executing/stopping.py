"""What keeps a claimed execution from acting now: it ends, or it has to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.conditional import unmet_of
from tasks.automation.guard import why_not
from tasks.automation.hushing import hushed
from tasks.executing.rates import waits
from tasks.executing.verdicts import Verdict, defer, refuse, stop
from tasks.held import Claim
from tasks.models.base import Json
from tasks.models.execution import Execution
from tasks.models.reason import Reason
from tasks.models.rule import Rule


def stopped(
    session: Session,
    claims: Sequence[Claim],
    executions: Sequence[Execution],
    rules: Mapping[UUID, Rule],
    contexts: Mapping[UUID, Json],
    recipients: Mapping[UUID, str | None],
    now: datetime,
) -> dict[Claim, Verdict]:
    """Return the verdicts on what must not act now; the others may.

    Args:
        claims: in the order in which they are due.
        recipients: whom those go to whose message could be made; only they get a turn
            of a rate limit.
    """
    stops = hushed(session, executions, rules, now) | why_not(
        session, executions, now=now, recipients=recipients
    )
    false = unmet_of(executions, rules, contexts)
    verdicts: dict[Claim, Verdict] = {}
    for claim in claims:
        if (why := stops.get(claim.execution_id)) is not None:
            verdicts[claim] = stop(claim, why)
        elif (detail := false.get(claim.execution_id)) is not None:
            verdicts[claim] = refuse(claim, Reason.CONDITION_FALSE, detail)
    able = [claim for claim in claims if claim.execution_id in recipients]
    ready = [claim for claim in able if claim not in verdicts]
    of = {row.id: rules[row.rule_id] for row in executions}
    waiting = waits(session, ready, of, now)
    for claim in ready:
        if (wait := waiting.get(claim.execution_id)) is not None:
            verdicts[claim] = defer(claim, wait.until, wait.sentence)
    return verdicts
