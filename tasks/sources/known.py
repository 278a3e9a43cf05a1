"""Which booking of ours a service's id means, locked while a message is applied."""

from __future__ import annotations

import hashlib
import re
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.models.base import EXTERNAL_ID_MAX
from tasks.models.source import ExternalBooking, SourceKind
from tasks.sources.providers import PROVIDERS

_PLAIN: Final = re.compile(r"[A-Za-z0-9_\-.]+")


def booking_id_of(kind: SourceKind, external_id: str) -> str:
    """Return the id that a booking gets here.

    >>> booking_id_of(SourceKind.CALCOM, "bFJeNb2uX8ANpT3JL5EfXw")
    'cal:bFJeNb2uX8ANpT3JL5EfXw'
    """
    prefix = PROVIDERS[kind].prefix
    fits = len(prefix) + len(external_id) <= EXTERNAL_ID_MAX
    if fits and _PLAIN.fullmatch(external_id):
        return prefix + external_id
    return prefix + hashlib.sha256(external_id.encode()).hexdigest()[:40]


def locked(
    session: Session, congregation_id: UUID, kind: SourceKind, external_ids: list[str]
) -> dict[str, ExternalBooking]:
    """Return what is known of the ids, each locked until the transaction ends.

    An id that is new gets a row without ``told_at``; so two calls about it that arrive
    together wait for each other.  Always in the same order, or they could deadlock.
    """
    found = {}
    for external_id in sorted(set(external_ids)):
        dialect = postgresql if is_postgres(session) else sqlite
        session.execute(
            dialect.insert(ExternalBooking)
            .values(
                congregation_id=congregation_id,
                kind=kind,
                external_id=external_id,
                booking_id=booking_id_of(kind, external_id),
            )
            .on_conflict_do_nothing()
        )
        found[external_id] = session.scalars(
            select(ExternalBooking)
            .where(
                ExternalBooking.congregation_id == congregation_id,
                ExternalBooking.kind == kind,
                ExternalBooking.external_id == external_id,
            )
            .with_for_update()
            .execution_options(populate_existing=True)
        ).one()
    return found
