"""A mail whose recipient is on the list of those that get none: allowed and retried."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.errors import Conflict, NotFound
from tasks.models import (
    STOPS_EVERYTHING,
    Execution,
    ExecutionState,
    Reason,
    Suppression,
    SuppressionReason,
)
from tasks.operations.audit import Actor
from tasks.operations.executions import retry_execution
from tasks.operations.single import Answer
from tasks.operations.suppressions import find, lift
from tasks.outbound.mailboxes import BadAddress, normal_address
from tasks.saying import say


class Allowed(NamedTuple):
    """What became of both deeds."""

    answer: Answer  # of the retry; ``ALREADY``: nothing was done
    address: str


def stopped(session: Session, row: Execution) -> Suppression | None:
    """Return what keeps mails from the recipient of one that did not go out.

    No query for all others.
    """
    is_skipped = row.reason is Reason.SUPPRESSED
    is_failed = row.state is ExecutionState.FAILED
    if row.action != "email" or not row.recipient or not (is_failed or is_skipped):
        return None
    try:
        address = normal_address(row.recipient)
    except BadAddress:
        return None  # its error says so already
    found = find(session, row.congregation_id, address)
    if found is None:
        return None
    return found if is_skipped or found.reason in STOPS_EVERYTHING else None


def why_not_allowed(row: Execution, entry: Suppression) -> str | None:
    """Return why it takes more than one press; None: allowing and retrying can do."""
    if entry.reason is SuppressionReason.UNSUBSCRIBED:
        return say(
            "They unsubscribed themselves. Allow them under Suppressions only if they "
            "have asked for mails again, then send this one once more."
        )
    if row.state is not ExecutionState.FAILED:
        return say(
            "It was skipped, so there is nothing to retry. Allow the address under "
            "Suppressions, then replay it."
        )
    return None


def allow_and_retry(
    session: Session, execution_id: UUID, actor: Actor, *, now: datetime
) -> Allowed:
    """Take a failed mail's recipient off the list, and queue the mail again.

    Both or neither, each with its own entry in the audit log.  Caller commits.

    Raises:
        NotFound: the session sees no such execution.
        Conflict: the recipient unsubscribed, or is on the list no more, or the state
            of the execution does not allow a retry; the message says which.
    """
    row = session.get(Execution, execution_id)
    if row is None:
        raise NotFound("unknown_execution", say("There is no such execution."))
    entry = stopped(session, row)
    if entry is not None and (why := why_not_allowed(row, entry)):
        raise Conflict("not_allowable", why)
    if entry is None and row.state is ExecutionState.FAILED:
        raise Conflict(
            "not_suppressed",
            say("Its recipient is not on the list any more; press Retry."),
        )
    # First the row that two who press at once both write: one of them finds it queued.
    answer = retry_execution(session, execution_id, actor, now=now)
    if entry is None or answer is Answer.ALREADY:
        return Allowed(Answer.ALREADY, row.recipient or "")
    lift(session, entry.id, actor, now=now)
    return Allowed(answer, entry.address)
