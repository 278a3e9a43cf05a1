"""A database for what does not depend on which one it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.db import sessions


@pytest.fixture
def sqlite_begin(
    sqlite_engine: Engine,
) -> Callable[[], AbstractContextManager[Session]]:
    """Return a ``Begin`` on SQLite only."""
    return sessions(sqlite_engine).begin
