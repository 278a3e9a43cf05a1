"""Telling admins something by mail: a row now, sent by the lane ``admin_mails``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Boolean, String, Table, Uuid, column, or_, select, table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.bulk import is_postgres
from tasks.models.admin_mail import AdminMail, AdminMailState
from tasks.models.base import new_id

LANE: Final = "admin_mails"
SUBJECT_MAX: Final = 200  # characters
_MAILS: Final[Table] = AdminMail.metadata.tables[AdminMail.__tablename__]

# The console keeps the operators and the engine must not import it: so their tables are
# read here, by name.  A test holds these names against the console's models.
OPERATORS: Final = table(
    "operators",
    column("id", Uuid),
    column("email", String),
    column("active", Boolean),
    column("sees_all", Boolean),
)
ROLES: Final = table("roles", column("id", Uuid), column("name", String))
OPERATORS_ROLES: Final = table(
    "operators_roles", column("operator_id", Uuid), column("role_id", Uuid)
)
OPERATOR_CONGREGATIONS: Final = table(
    "operator_congregations",
    column("operator_id", Uuid),
    column("congregation_id", Uuid),
)


@dataclass(frozen=True, slots=True)
class Telling:
    """What admins are told."""

    key: str  # the same one is told once to each admin
    subject: str
    body: str
    path: str  # the page of the console that says more, such as "/webhooks/…"


def mail_admins(
    session: Session, congregation_id: UUID | None, telling: Telling, now: datetime
) -> int:
    """Write a mail for each admin who may see a congregation; returns how many.

    ``None``: it concerns the installation, and those who see all of it.  Goes out after
    the commit, and not at all on a rollback.  Caller commits.
    """
    rows = [
        {
            "id": new_id(now),
            "congregation_id": congregation_id,
            "key": telling.key,
            "address": address,
            "subject": telling.subject[:SUBJECT_MAX],
            "body": telling.body,
            "path": telling.path,
            "state": AdminMailState.PENDING,
            "run_at": now,
            "attempt": 0,
            "created_at": now,
        }
        for address in admin_addresses(session, congregation_id)
    ]
    if not rows:
        return 0
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    once = insert(_MAILS).on_conflict_do_nothing(index_elements=["key", "address"])
    made = session.scalars(once.returning(_MAILS.c.id), rows).all()
    if made:
        doorbell.ask(session, LANE)
    return len(made)


def admin_addresses(session: Session, congregation_id: UUID | None) -> Sequence[str]:
    """Return the addresses of the active admins who may see a congregation, or all."""
    sees_it = select(OPERATOR_CONGREGATIONS.c.operator_id).where(
        OPERATOR_CONGREGATIONS.c.operator_id == OPERATORS.c.id,
        OPERATOR_CONGREGATIONS.c.congregation_id == congregation_id,
    )
    is_admin = (
        select(ROLES.c.id)
        .join(OPERATORS_ROLES, OPERATORS_ROLES.c.role_id == ROLES.c.id)
        .where(OPERATORS_ROLES.c.operator_id == OPERATORS.c.id, ROLES.c.name == "admin")
    )
    return session.scalars(
        select(OPERATORS.c.email)
        .where(
            OPERATORS.c.active,
            is_admin.exists(),
            or_(OPERATORS.c.sees_all, sees_it.exists()),
        )
        .order_by(OPERATORS.c.email)
    ).all()
