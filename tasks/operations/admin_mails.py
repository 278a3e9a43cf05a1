"""Telling admins something by mail: a row now, sent by the lane ``admin_mails``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import (
    Boolean,
    String,
    Table,
    Uuid,
    column,
    or_,
    select,
    table,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.bulk import is_postgres
from tasks.models.admin_mail import AdminMail, AdminMailState
from tasks.models.base import new_id
from tasks.models.congregation import Congregation
from tasks.saying import LANGUAGES, in_language

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
    column("language", String),
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


class Words(NamedTuple):
    """What a mail says."""

    subject: str
    body: str  # plain text


@dataclass(frozen=True, slots=True)
class Telling:
    """What admins are told."""

    key: str  # the same one is told once to each admin
    path: str  # the page of the console that says more, such as "/webhooks/…"
    words: Callable[[], Words]  # in the language that is set when it is called


def mail_admins(
    session: Session, congregation_id: UUID | None, telling: Telling, now: datetime
) -> int:
    """Write a mail for each admin who may see a congregation; returns how many.

    ``None``: it concerns the installation, and those who see all of it.  Goes out after
    the commit, and not at all on a rollback.  Caller commits.
    """
    people = admins_of(session, congregation_id)
    return mail_people(session, congregation_id, people, telling, now)


def mail_people(
    session: Session,
    congregation_id: UUID | None,
    people: Mapping[str, str],
    telling: Telling,
    now: datetime,
) -> int:
    """Write a mail for each of some people; returns how many.  Caller commits.

    Args:
        people: Their addresses, with the language that each reads.
    """
    said = {sign: _said(telling, sign) for sign in {*people.values()}}
    rows = [
        {
            "id": new_id(now),
            "congregation_id": congregation_id,
            "key": telling.key,
            "address": address,
            "subject": said[sign].subject[:SUBJECT_MAX],
            "body": said[sign].body,
            "language": sign,
            "path": telling.path,
            "state": AdminMailState.PENDING,
            "run_at": now,
            "attempt": 0,
            "created_at": now,
        }
        for address, sign in people.items()
    ]
    if not rows:
        return 0
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    once = insert(_MAILS).on_conflict_do_nothing(index_elements=["key", "address"])
    made = session.scalars(once.returning(_MAILS.c.id), rows).all()
    if made:
        doorbell.ask(session, LANE)
    return len(made)


def _said(telling: Telling, sign: str) -> Words:
    with in_language(sign):
        return telling.words()


def admins_of(session: Session, congregation_id: UUID | None) -> Mapping[str, str]:
    """Return the addresses of active admins who may see a congregation, or all of them.

    With the language that each reads: their own, else the congregation's.
    """
    usual = usual_language(session, congregation_id)
    sees_it = select(OPERATOR_CONGREGATIONS.c.operator_id).where(
        OPERATOR_CONGREGATIONS.c.operator_id == OPERATORS.c.id,
        OPERATOR_CONGREGATIONS.c.congregation_id == congregation_id,
    )
    is_admin = (
        select(ROLES.c.id)
        .join(OPERATORS_ROLES, OPERATORS_ROLES.c.role_id == ROLES.c.id)
        .where(OPERATORS_ROLES.c.operator_id == OPERATORS.c.id, ROLES.c.name == "admin")
    )
    found = session.execute(
        select(OPERATORS.c.email, OPERATORS.c.language)
        .where(
            OPERATORS.c.active,
            is_admin.exists(),
            or_(OPERATORS.c.sees_all, sees_it.exists()),
        )
        .order_by(OPERATORS.c.email)
    )
    return {
        address: chosen if chosen in LANGUAGES else usual for address, chosen in found
    }


def usual_language(session: Session, congregation_id: UUID | None) -> str:
    """Return the language of who chose none: the congregation's, else the first."""
    of = Congregation.id == congregation_id
    spoken = session.scalar(select(Congregation.locale).where(of))
    return spoken if spoken in LANGUAGES else next(iter(LANGUAGES))
