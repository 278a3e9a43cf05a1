"""One verb on many rows: in chunks, in one transaction, with one audit entry each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, select, update
from sqlalchemy.orm import Session

from tasks.errors import InvalidInput
from tasks.locks import in_order
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.matching import Model
from tasks.saying import say

#: Rows that can be named one by one; a page shows no more.  Their ids are audited.
SELECTED_MAX: Final = 200
#: Ids in one statement; far below the limits of both databases.
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class Bulk:
    """What became of many rows."""

    n_done: int
    n_skipped: int  # were not in a state that allows it any more, or are not here


@dataclass(frozen=True, slots=True)
class Verb:
    """A change that rows allow only in some states."""

    model: Model
    kind: str  # the audit subject, e.g. "execution"
    name: str  # the audit action, e.g. "execution.retried"
    allowed: tuple[ColumnElement[bool], ...]
    values: Callable[[datetime], dict[str, Any]]  # what is set, at this instant
    summary: Callable[[int], str]  # a sentence about so many rows
    #: What else is written about the rows that were changed.
    then: Callable[[Session, Collection[UUID], datetime], None] | None = None


def change(
    session: Session, verb: Verb, ids: Collection[UUID], now: datetime
) -> list[tuple[UUID, UUID]]:
    """Change those of ``ids`` that allow it; return their (congregation, id) pairs.

    One conditional UPDATE a chunk: whoever comes second changes nothing.
    """
    model = verb.model
    changed: list[tuple[UUID, UUID]] = []
    wanted = sorted(ids)
    for start in range(0, len(wanted), _CHUNK):
        named = wanted[start : start + _CHUNK]
        found = session.execute(
            update(model)
            .where(*in_order(session, model, model.id.in_(named), *verb.allowed))
            .values(**verb.values(now))
            .returning(model.congregation_id, model.id)
            .execution_options(synchronize_session=False)
        )
        changed += [(row[0], row[1]) for row in found]
    if verb.then is not None and changed:
        verb.then(session, [id_ for _, id_ in changed], now)
    return changed


def change_selected(
    session: Session, verb: Verb, ids: Collection[UUID], actor: Actor, now: datetime
) -> Bulk:
    """Change the rows that were picked by hand.

    Raises:
        InvalidInput: none was picked, or more than ``SELECTED_MAX``.
    """
    if not ids:
        raise InvalidInput("nothing_selected", say("Select at least one row first."))
    refuse_many(ids)
    changed = change(session, verb, ids, now)
    _audit(session, verb, changed, actor, {})
    return Bulk(len(changed), len(set(ids)) - len(changed))


def refuse_many(ids: Collection[UUID]) -> None:
    """Raise ``InvalidInput`` where more than ``SELECTED_MAX`` rows are picked."""
    if len(ids) > SELECTED_MAX:
        raise InvalidInput(
            "too_many_selected",
            say(
                "At most %(max)s rows can be selected, not %(n)s. Use a filter and act "
                "on all that match.",
                max=str(SELECTED_MAX),
                n=str(len(ids)),
            ),
        )


def change_matching(
    session: Session,
    verb: Verb,
    matching: Select[UUID],
    asked: dict[str, Any],
    actor: Actor,
    now: datetime,
    limit: int,
) -> Bulk:
    """Change up to ``limit`` rows that ``matching`` selects the ids of.

    Args:
        asked: what was asked for, as the audit log shows it.
    """
    ids: Sequence[UUID] = session.scalars(matching.limit(limit)).all()
    changed = change(session, verb, ids, now)
    _audit(session, verb, changed, actor, asked)
    return Bulk(len(changed), len(ids) - len(changed))


def count(session: Session, matching: Select[UUID], limit: int) -> int:
    """Return how many rows ``matching`` selects; counting stops at ``limit``."""
    some = matching.limit(limit).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0


def _audit(
    session: Session,
    verb: Verb,
    changed: Sequence[tuple[UUID, UUID]],
    actor: Actor,
    asked: dict[str, Any],
) -> None:
    """Leave one entry for each congregation: nobody reads about another's rows."""
    by_congregation: dict[UUID, list[str]] = defaultdict(list)
    for congregation_id, id_ in changed:
        by_congregation[congregation_id].append(str(id_))
    for congregation_id, ids in by_congregation.items():
        after: dict[str, Any] = {"count": len(ids), **asked}
        if len(ids) <= SELECTED_MAX:
            after["ids"] = ids
        record(
            session,
            actor,
            verb.name,
            Subject(verb.kind, "many", congregation_id),
            verb.summary(len(ids)),
            after=after,
        )
