"""Who gets no mails: asked for a whole batch at once, right before it is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from tasks.automation.candidates import Candidate, action_of, noted_recipient
from tasks.automation.records import chunks
from tasks.bulk import given, is_among, is_postgres
from tasks.models.suppression import (
    STOPS_EVERYTHING,
    Suppression,
    SuppressionReason,
)
from tasks.outbound.mailboxes import BadAddress, normal_address

#: The action whose recipients can refuse.
_MAIL: Final = "email"
#: Settings of an execution's step, or ``None``; asked for few rows only.
SettingsOf = Callable[[Candidate], Mapping[str, Any] | None]
_Address = tuple[UUID, str]  # congregation, normalised address


def suppressed(
    session: Session,
    rows: Sequence[Candidate],
    recipients: Mapping[UUID, str | None],
    settings_of: SettingsOf,
) -> set[UUID]:
    """Return the ids of mails whose recipient does not want them.

    One query for up to 500 mails; none when no row is a mail.

    Args:
        recipients: Whom executions go to, where that is known better than by the row.
    """
    mails = [row for row in rows if action_of(row) == _MAIL]
    if not mails:
        return set()
    addresses = {row.id: _address(row, recipients) for row in mails}
    reasons = reasons_of(session, [each for each in addresses.values() if each])
    if not reasons:
        return set()
    return {
        row.id
        for row in mails
        if (address := addresses[row.id])
        and (reason := reasons.get(address))
        and _stops(reason, settings_of(row) or {})
    }


def _stops(reason: SuppressionReason, settings: Mapping[str, Any]) -> bool:
    return reason in STOPS_EVERYTHING or not settings.get("transactional")


def _address(row: Candidate, recipients: Mapping[UUID, str | None]) -> _Address | None:
    given = recipients.get(row.id, noted_recipient(row))
    try:
        return (row.congregation_id, normal_address(given)) if given else None
    except BadAddress:
        return None  # composing says so


def reasons_of(
    session: Session, wanted: Sequence[_Address]
) -> dict[_Address, SuppressionReason]:
    """Return why addresses get no mails: a congregation and a normalised address."""
    found: dict[_Address, SuppressionReason] = {}
    for chunk in chunks(sorted(set(wanted))):
        congregations = sorted({congregation for congregation, _ in chunk})
        addresses = [address for _, address in chunk]
        sets = {
            "congregations": given(session, Suppression.congregation_id, congregations),
            "addresses": given(session, Suppression.address, addresses),
        }
        rows = session.execute(_reasons(is_postgres(session)), sets)
        found.update({(row[0], row[1]): row[2] for row in rows})
    return found


@lru_cache
def _reasons(
    takes_arrays: bool,  # a key of the cache
) -> Select[UUID, str, SuppressionReason]:
    of = is_among(
        Suppression.congregation_id, "congregations", takes_arrays=takes_arrays
    )
    return select(
        Suppression.congregation_id, Suppression.address, Suppression.reason
    ).where(
        Suppression.agent == "",  # one agent's suppression stops no rule
        of,
        is_among(Suppression.address, "addresses", takes_arrays=takes_arrays),
    )
