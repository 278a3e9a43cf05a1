"""Whether somebody waits for a lock of PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Engine, text


def waits_for_a_lock(engine: Engine) -> bool:
    """Return whether a connection to the engine's database waits for another one."""
    asked = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        "AND datname = current_database()"
    )
    with engine.connect() as connection:
        return bool(connection.execute(asked).scalar_one())
