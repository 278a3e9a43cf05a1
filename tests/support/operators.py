"""People who log in to the console, as rows."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.operators.models import Operator, Role


def operator(session: Session, email: str, role: str, **values: object) -> Operator:
    """Add an operator who sees every congregation."""
    found = session.scalars(select(Role).where(Role.name == role)).one_or_none()
    row = Operator(
        email=email,
        name="",
        fs_uniquifier=email,
        **{"active": True, "sees_all": True} | values,
        roles=[found or Role(name=role)],
    )
    session.add(row)
    session.flush()
    return row
