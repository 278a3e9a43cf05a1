"""One row that a program's error ends: the others go on without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

R = TypeVar("R")
V = TypeVar("V")


def apart(
    step: Callable[[Sequence[R]], list[V]],
    rows: Sequence[R],
    broken: Callable[[R, Exception], V],
    *,
    of_all: type[Exception] | tuple[type[Exception], ...] = SQLAlchemyError,
) -> list[V]:
    """Do a step for all rows at once; by halves only when that fails.

    Costs nothing while all is well.

    Args:
        step: returns one value a row, in their order; it may be asked again.
        rows: what it is done for.
        broken: returns the value of a row that fails on its own too.
        of_all: what concerns all of them, and is raised as it was.  A step without a
            savepoint names all errors of the database: nothing more can be asked then.
    """
    try:
        return step(rows)
    except of_all:
        raise
    except Exception as error:  # noqa: BLE001  # handed over, one row at a time
        if len(rows) == 1:
            return [broken(rows[0], error)]
        middle = len(rows) // 2
        return [
            value
            for half in (rows[:middle], rows[middle:])
            for value in apart(step, half, broken, of_all=of_all)
        ]
