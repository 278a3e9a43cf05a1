"""How far SQLite's machine steps: counted, so that a slow computer changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Engine, event

#: SQLite tells of its steps in so many at a time.
_STEPS: Final = 20


def effort_of(work: Callable[[], object]) -> int:
    """Return about how much some work asks of SQLite; it is done twice.

    What is asked once only is asked the first time.
    """
    n = 0

    def step() -> int:
        nonlocal n
        n += 1
        return 0

    def watch(connection: Any, *_rest: Any) -> None:
        raw = connection.connection.dbapi_connection
        raw.set_progress_handler(step, _STEPS)

    work()
    event.listen(Engine, "before_cursor_execute", watch)
    try:
        work()
    finally:
        event.remove(Engine, "before_cursor_execute", watch)
    return n
