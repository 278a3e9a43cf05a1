"""What the operators page reads: nobody sees operators who see more than they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, select, true
from sqlalchemy.orm import Session

from dashboard.operators.models import Operator, operator_congregations
from tasks.db import Congregations, Scope, seeing_only
from tasks.errors import NotFound
from tasks.models import Congregation
from tasks.saying import say

#: Nobody has more operators than this; a list this long needs no pages.
OPERATORS_MAX: Final = 500
#: Congregations that the form offers; what somebody has besides is not touched.
CHOICES_MAX: Final = 500


def everybody(session: Session, allowed: Congregations) -> Sequence[Operator]:
    """Return the operators by name, those who are switched off last."""
    return session.scalars(
        select(Operator)
        .where(_is_within(allowed))
        .order_by(Operator.active.desc(), Operator.name, Operator.id)
        .limit(OPERATORS_MAX)
    ).all()


def operator(session: Session, operator_id: UUID, allowed: Congregations) -> Operator:
    """Return an operator who sees no more than somebody with ``allowed``.

    Else an admin of one congregation could make a link that sets the password of an
    admin of all of them.

    Raises:
        NotFound: there is none with this id.
    """
    found: Operator | None = session.scalar(
        select(Operator).where(Operator.id == operator_id, _is_within(allowed))
    )
    if found is None:
        raise NotFound(
            "operator_not_found", say("This operator does not exist any more.")
        )
    return found


def congregations(session: Session, allowed: Congregations) -> Sequence[Congregation]:
    """Return the congregations that an operator may be given, whatever is chosen."""
    statement = select(Congregation).order_by(Congregation.name).limit(CHOICES_MAX)
    with seeing_only(session, allowed) as wider:
        return wider.scalars(statement).all()


def congregations_of(session: Session, operator: Operator) -> list[UUID]:
    """Return the ids of the congregations an operator was given one by one."""
    return list(
        session.scalars(
            select(operator_congregations.c.congregation_id).where(
                operator_congregations.c.operator_id == operator.id
            )
        )
    )


def _is_within(allowed: Congregations) -> ColumnElement[bool]:
    """Return whether an operator sees no congregation that is not ``allowed``."""
    if allowed is Scope.EVERY:
        return true()
    given = operator_congregations.c
    beyond = select(given.operator_id).where(
        given.operator_id == Operator.id, given.congregation_id.not_in(tuple(allowed))
    )
    return and_(Operator.sees_all.is_(False), ~beyond.exists())
