"""Erasing people: what the register says is done, for up to a few hundred at once.

Order: open work is closed, so that its history is right; texts of others are blacked
out while the words are known; then the register, the ledger, the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Table,
    and_,
    bindparam,
    case,
    delete,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.automation.own import Happening, report
from tasks.bulk import is_postgres
from tasks.congregation.days import local_day
from tasks.congregation.fates import Derive, Erase, People, Personal
from tasks.congregation.personal import REGISTER
from tasks.congregation.retention.blacking import black_out
from tasks.congregation.retention.knowing import Known, known
from tasks.models import Attribution, Congregation, Erasure, ExternalRef, new_id

#: What rules and webhook endpoints hear.
EVENT: Final = "member.anonymised"
#: How the ledger writes where a row came from.
EXTERNAL_REF: Final = (
    ExternalRef.source + "/" + ExternalRef.entity + "/" + ExternalRef.external_id
)


def erase(
    session: Session,
    congregation: Congregation,
    member_ids: Sequence[UUID],
    requested_by: str,
    now: datetime,
    *,
    account_ids: Sequence[UUID] = (),
) -> None:
    """Erase members and all that belongs to them; the caller has locked their rows.

    Nobody among them is responsible for a group.  Doing it twice changes nothing but
    the random address of an account.

    Args:
        account_ids: accounts to be erased besides those of the members.
    """
    session.flush()
    found = known(session, congregation, member_ids, now, account_ids=account_ids)
    _close_work(session, found.people, local_day(now, congregation.timezone))
    black_out(session, congregation.id, found.words)
    for each in REGISTER:
        _erase_rows(session, each, found.people)
    _forget_loaded(session)
    _enter(session, found, requested_by, now)
    report(session, [_happening(found, each) for each in found.people.members], now)


def _close_work(session: Session, people: People, today: date) -> None:
    """End what they still work on, today; what had not begun ends as it begins."""
    row = Attribution
    session.execute(
        update(row)
        .where(
            row.congregation_id == people.congregation_id,
            row.member_id.in_(people.members),
            or_(row.ended_on.is_(None), row.paused_on.is_not(None)),
        )
        .values(
            ended_on=case(
                (row.ended_on.is_not(None), row.ended_on),
                (row.started_on > today, row.started_on),
                else_=today,
            ),
            paused_on=None,
            paused_by_id=None,
        )
        .execution_options(synchronize_session=False)
    )


def _erase_rows(session: Session, personal: Personal, people: People) -> None:
    table = personal.table
    theirs = and_(
        table.c.congregation_id == people.congregation_id, personal.whose(people)
    )
    if personal.columns is None:
        session.execute(delete(table).where(theirs))
        return
    values: dict[str, Any] = {
        name: _nothing(table.c[name])
        for name, fate in personal.columns.items()
        if isinstance(fate, Erase)
    }
    if "version" in table.c:  # a form that was open meanwhile must not be saved
        values["version"] = table.c.version + 1
    derived = {n: f for n, f in personal.columns.items() if isinstance(f, Derive)}
    if derived:
        _derive(session, table, theirs, values, derived, people)
    elif values:
        session.execute(update(table).where(theirs).values(values))


def _derive(
    session: Session,
    table: Table,
    theirs: ColumnElement[bool],
    values: dict[str, Any],
    derived: dict[str, Derive],
    people: People,
) -> None:
    ids = session.scalars(select(table.c.id).where(theirs)).all()
    if not ids:
        return
    new = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in derived}
    statement = (
        update(table).where(table.c.id == bindparam("row_id")).values(values | new)
    )
    sets = [
        {f"new_{name}": fate.value(row_id, people) for name, fate in derived.items()}
        | {"row_id": row_id}
        for row_id in ids
    ]
    session.execute(statement, sets)


def _nothing(column: Column[Any]) -> Any:  # noqa: ANN401  # any column's value
    """Return what an erased column holds."""
    if column.nullable:
        return null()  # a JSON column would keep None as the word "null"
    return False if isinstance(column.type, Boolean) else ""


def _forget_loaded(session: Session) -> None:
    """Let rows that were loaded before be read anew."""
    models = tuple(each.model for each in REGISTER)
    for row in list(session.identity_map.values()):
        if isinstance(row, models):
            session.expire(row)


def _enter(session: Session, found: Known, requested_by: str, now: datetime) -> None:
    """Write the ledger; who stands there already is not written again."""
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    refs = _external_refs(session, found)
    rows = [
        {
            "id": new_id(),
            "congregation_id": found.people.congregation_id,
            "entity_type": kind,
            "entity_id": entity_id,
            "external_ref": refs.get(entity_id),
            "requested_by": requested_by[:255],
            "requested_at": now,
            "completed_at": now,
        }
        for kind, entity_id in found.entities
    ]
    if not rows:
        return
    key = ["congregation_id", "entity_type", "entity_id"]
    statement = insert(Erasure)
    done = {"completed_at": statement.excluded.completed_at}
    session.execute(
        statement.on_conflict_do_update(index_elements=key, set_=done), rows
    )


def _external_refs(session: Session, found: Known) -> dict[UUID, str]:
    """Return what the archives that rows came from call them."""
    ids = [entity_id for _, entity_id in found.entities]
    rows = session.execute(
        select(ExternalRef.row_id, EXTERNAL_REF).where(
            ExternalRef.congregation_id == found.people.congregation_id,
            ExternalRef.row_id.in_(ids),
        )
    )
    return {row_id: ref for row_id, ref in rows}  # noqa: C416  # rows are no pairs to mypy


def _happening(found: Known, member_id: UUID) -> Happening:
    left = found.left_on.get(member_id)
    said = {"member": {"id": str(member_id), "left_on": left}}
    return Happening(EVENT, found.people.congregation_id, member_id, said)
