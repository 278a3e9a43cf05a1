"""Why a mail's recipient gets none, where that is what a retry would run into."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tasks.models import (
    STOPS_EVERYTHING,
    Execution,
    ExecutionState,
    Reason,
    Suppression,
)
from tasks.operations.suppressions import find
from tasks.outbound.mailboxes import BadAddress, normal_address


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
