"""Adding a row that somebody else may be adding at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.models.base import Base

Row = TypeVar("Row", bound=Base)


def ensure(
    session: Session, row: Row, look: Callable[[], Row | None]
) -> tuple[Row, bool]:
    """Add ``row``, or return the one that another writer was quicker to add.

    Args:
        look: returns the other's row, locked.
    """
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        found = look()
        if found is None:  # it was refused for another reason
            raise
        return found, False
    return row, True
