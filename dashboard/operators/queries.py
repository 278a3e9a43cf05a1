"""What the operators page reads."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.operators.models import Operator, operator_congregations
from tasks.models import Congregation

#: Nobody has more operators than this; a list this long needs no pages.
OPERATORS_MAX = 500


def everybody(session: Session) -> Sequence[Operator]:
    """Return the operators by name, those who are switched off last."""
    return session.scalars(
        select(Operator)
        .order_by(Operator.active.desc(), Operator.name, Operator.id)
        .limit(OPERATORS_MAX)
    ).all()


def congregations(session: Session) -> Sequence[Congregation]:
    """Return the congregations that an operator may be given."""
    return session.scalars(select(Congregation).order_by(Congregation.name)).all()


def congregations_of(session: Session, operator: Operator) -> list[UUID]:
    """Return the ids of the congregations an operator was given one by one."""
    return list(
        session.scalars(
            select(operator_congregations.c.congregation_id).where(
                operator_congregations.c.operator_id == operator.id
            )
        )
    )
