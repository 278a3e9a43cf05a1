"""Who gets no mails: asked for a whole batch at once, right before it is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, String, Uuid, func, select, tuple_
from sqlalchemy.orm import Session

from tasks.arrays import array, values_of
from tasks.automation.candidates import Candidate, action_of, noted_recipient
from tasks.automation.records import chunks
from tasks.bulk import is_postgres
from tasks.lookups import is_among_keys, packed
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
_KEY: Final = (Suppression.congregation_id, Suppression.address)


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
        rows = session.execute(_reasons(is_postgres(session)), _sets(session, chunk))
        found.update({(row[0], row[1]): row[2] for row in rows})
    return found


def _sets(session: Session, wanted: Sequence[_Address]) -> dict[str, Any]:
    """Return the parameters of ``_reasons``."""
    if not is_postgres(session):
        return {"pairs": packed(_KEY, wanted)}
    congregations, addresses = zip(*wanted, strict=True)
    return {
        "congregations": values_of(Uuid(), congregations),
        "addresses": list(addresses),
    }


@lru_cache
def _reasons(
    takes_arrays: bool,  # a key of the cache
) -> Select[UUID, str, SuppressionReason]:
    # In pairs, as the key has them: PostgreSQL would compare all that a congregation
    # has on a young list with each address.
    arrays = (array("congregations", Uuid()), array("addresses", String()))
    is_meant = (
        tuple_(*_KEY).in_(select(*(func.unnest(each) for each in arrays)))
        if takes_arrays
        else is_among_keys(_KEY, "pairs")
    )
    return select(*_KEY, Suppression.reason).where(
        Suppression.agent == "",  # one agent's suppression stops no rule
        is_meant,
    )
