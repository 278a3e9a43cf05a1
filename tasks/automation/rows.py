"""Reading and changing the records of producers, locked while they change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.automation.records import chunks
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models.base import EntityOfCongregation
from tasks.models.podcast import Podcast
from tasks.saying import say

Row = TypeVar("Row", bound=EntityOfCongregation)


def locked(
    session: Session, model: type[Row], congregation_id: UUID, record_id: str
) -> Row | None:
    """Return a record as it is now, locked until the transaction ends."""
    return session.scalar(
        select(model)
        .where(model.congregation_id == congregation_id, model.id == record_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )


def locked_all(
    session: Session, model: type[Row], congregation_id: UUID, ids: Collection[str]
) -> dict[str, Row]:
    """Return records by their ids, locked in one order; one query for up to 500."""
    found: dict[str, Row] = {}
    for chunk in chunks(sorted(ids)):
        some = session.scalars(
            select(model)
            .where(model.congregation_id == congregation_id, model.id.in_(chunk))
            .order_by(model.id)
            .with_for_update(key_share=True)
            .execution_options(populate_existing=True)
        )
        found.update({row.id: row for row in some})
    return found


def required_row(
    session: Session, model: type[Row], congregation_id: UUID, record_id: str
) -> Row:
    """Return a record, locked.

    Raises:
        NotFound: there is none.
    """
    row = locked(session, model, congregation_id, record_id)
    if row is None:
        noun = model.__name__.lower()
        raise NotFound(f"unknown_{noun}", f"There is no {noun} {record_id!r}.")
    return row


def create(
    session: Session,
    model: type[Row],
    congregation_id: UUID,
    record_id: str,
    values: Mapping[str, Any],
) -> tuple[Row, bool]:
    """Insert a record; returns it, locked, and whether it is new.

    When somebody inserts the same one at the same moment, theirs is returned.
    """
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    born = session.execute(
        dialect.insert(model)
        .values(congregation_id=congregation_id, id=record_id, **values)
        .on_conflict_do_nothing()
        .returning(model.id)
    ).first()
    return required_row(session, model, congregation_id, record_id), born is not None


def needed(values: Mapping[str, Any], *names: str) -> None:
    """Raise unless a new record has these fields.

    Raises:
        InvalidInput: one is missing.
    """
    for name in names:
        if values.get(name) is None:
            raise InvalidInput(
                "required", f"{name} is needed for a new record.", field=name
            )


def refuse_unknown_podcast(
    session: Session, congregation_id: UUID, podcast_id: str
) -> None:
    """Raise unless the podcast exists, and keep it from vanishing meanwhile.

    Raises:
        NotFound: there is no such podcast in the congregation.
    """
    found = session.scalar(
        select(Podcast.id).where(
            Podcast.congregation_id == congregation_id, Podcast.id == podcast_id
        )
    )
    if found is None:
        raise NotFound(
            "unknown_podcast",
            f"There is no podcast {podcast_id!r}; make it known first.",
            field="podcast_id",
        )


def apply(row: EntityOfCongregation, values: Mapping[str, Any]) -> dict[str, Any]:
    """Set the values that differ; returns what was there before, by name.

    Raises:
        Conflict: the record belongs to another podcast; it cannot move.
    """
    before = {
        name: getattr(row, name)
        for name, value in values.items()
        if getattr(row, name) != value
    }
    if "podcast_id" in before:
        raise Conflict(
            "podcast_fixed",
            say(
                "It belongs to the podcast %(id)s and cannot move to another.",
                id=repr(before["podcast_id"]),
            ),
            field="podcast_id",
        )
    for name in before:
        setattr(row, name, values[name])
    return before
