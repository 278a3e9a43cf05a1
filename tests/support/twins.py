"""A congregation with one row of each kind, and the ids by which pages ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.storage import Storage
from tests.support import (
    address_rows,
    board_rows,
    factories,
    notification_rows,
    territory_rows,
    transfer_rows,
    twin_rows,
)
from tests.support.webhooks import webhooks


@dataclass(frozen=True, slots=True)
class Twin:
    """A congregation and the ids by which its rows are asked for."""

    id: UUID
    slug: str
    ids: dict[str, str]


def twin(session: Session, slug: str, mark: str, storage: Storage) -> Twin:
    """Add a congregation with one row of each kind, and ``mark`` in its texts."""
    tenant = factories.congregation(session, slug, name="St. Same")
    air = twin_rows.on_air(session, tenant, slug, mark)
    event, ruled = twin_rows.ruled(session, tenant, air, mark)
    return Twin(
        tenant,
        slug,
        {
            "slug": slug,
            **air,
            **ruled,
            **twin_rows.operated(session, tenant, ruled["execution_id"], mark),
            **twin_rows.reached_out(session, tenant, mark),
            **factories.sources(session, tenant, mark),
            **address_rows.known(session, tenant, mark),
            **territory_rows.office(session, tenant, mark),
            **notification_rows.told(session, tenant, mark),
            **webhooks(session, event, mark),
            **board_rows.on_board(session, tenant, mark, storage),
            **transfer_rows.on_its_way(session, tenant, mark),
        },
    )
