"""Which congregation a producer's call is about."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.db import Scope, scope_of
from tasks.errors import NotFound
from tasks.models.congregation import Congregation
from tasks.saying import say


def congregation_of(session: Session, given: UUID | None) -> UUID:
    """Return the congregation meant: the given one, else the only one of the scope.

    Raises:
        NotFound: none is given and the scope does not tell, or it is not in the scope.
    """
    scope = scope_of(session)
    if given is None:
        if scope is not Scope.EVERY and len(scope) == 1:
            return next(iter(scope))
        raise NotFound(
            "no_congregation", say("Say which congregation this belongs to (its id).")
        )
    if scope is not Scope.EVERY and given not in scope:
        raise _unknown(given)
    return given


def known_congregation(session: Session, given: UUID | None) -> UUID:
    """Return the congregation meant, having looked that it exists.

    Raises:
        NotFound: there is none, or none can be told.
    """
    meant = congregation_of(session, given)
    found = session.scalar(select(Congregation.id).where(Congregation.id == meant))
    if found is None:
        raise _unknown(meant)
    return meant


def _unknown(congregation_id: UUID) -> NotFound:
    return NotFound(
        "unknown_congregation",
        say("There is no congregation with the id %(id)s.", id=congregation_id),
    )
