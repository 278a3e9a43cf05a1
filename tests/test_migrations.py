"""All migrations in order give what the models say, on both databases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.engine import URL

import dashboard.operators.models  # noqa: F401  # its tables join the metadata
from tasks import migrations
from tasks.db import make_engine
from tasks.errors import EngineError
from tasks.models import Base


@pytest.fixture
def empty(database_url: URL) -> Iterator[Engine]:
    made = make_engine(database_url)
    yield made
    made.dispose()


def test_all_migrations_together_give_what_the_models_say(empty: Engine) -> None:
    migrations.upgrade(empty)
    with empty.connect() as connection:
        context = MigrationContext.configure(connection)
        differences = compare_metadata(context, Base.metadata)
    assert differences == []


def test_partial_indexes_have_the_conditions_that_the_models_say(
    empty: Engine,
) -> None:
    migrations.upgrade(empty)
    migrated = _conditions(empty)
    with empty.begin() as connection:
        Base.metadata.drop_all(connection)
        Base.metadata.create_all(connection)
    assert migrated == _conditions(empty)
    assert any(migrated.values())


def _conditions(engine: Engine) -> dict[str, Any]:
    found = inspect(engine)
    where = f"{engine.dialect.name}_where"
    return {
        str(index["name"]): str(index.get("dialect_options", {}).get(where, ""))
        for table in Base.metadata.tables
        for index in found.get_indexes(table)
    }


def test_a_database_is_current_after_the_migrations_and_not_before(
    empty: Engine,
) -> None:
    assert not migrations.is_current(empty)
    migrations.upgrade(empty)
    assert migrations.is_current(empty)


def test_migrating_twice_changes_nothing(empty: Engine) -> None:
    migrations.upgrade(empty)
    before = inspect(empty).get_table_names()
    migrations.upgrade(empty)
    assert inspect(empty).get_table_names() == before


def test_several_processes_may_migrate_at_once(empty: Engine) -> None:
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(migrations.upgrade, empty) for _ in range(3)]:
            done.result(60)
    assert migrations.is_current(empty)


def test_a_database_of_a_newer_version_is_left_alone(empty: Engine) -> None:
    assert migrations.is_behind(empty)
    migrations.upgrade(empty)
    assert not migrations.is_behind(empty)
    with empty.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(migrations.SchemaIsNewer, match="9999"):
        migrations.upgrade(empty)
    assert not migrations.is_current(empty)
    assert not migrations.is_behind(empty)


def test_rows_without_the_row_they_refer_to_stop_a_migration(sqlite_url: URL) -> None:
    engine = make_engine(sqlite_url)
    with engine.begin() as connection:
        for statement in (
            "CREATE TABLE parents (id INTEGER PRIMARY KEY)",
            "CREATE TABLE children (id INTEGER REFERENCES parents (id))",
        ):
            connection.execute(text(statement))
    raw = engine.raw_connection()
    raw.cursor().execute("PRAGMA foreign_keys=OFF")
    raw.cursor().execute("INSERT INTO children VALUES (1)")
    raw.cursor().execute("PRAGMA foreign_keys=ON")
    raw.close()
    with pytest.raises(EngineError, match="children"):
        migrations.upgrade(engine)
    assert not migrations.is_current(engine)
    engine.dispose()


def test_keys_of_tenants_are_newer_than_the_other_indexes(postgres_url: URL) -> None:
    """PostgreSQL checks foreign keys of a young table with the newest one alike."""
    engine = make_engine(postgres_url)
    migrations.upgrade(engine)
    newest = text(
        "SELECT DISTINCT ON (t.relname) t.relname, i.relname FROM pg_index"
        " JOIN pg_class i ON i.oid = indexrelid JOIN pg_class t ON t.oid = indrelid"
        " WHERE i.relnamespace = 'public'::regnamespace"
        " ORDER BY t.relname, i.oid DESC"
    )
    with engine.connect() as connection:
        found = dict(connection.execute(newest).all())
    engine.dispose()
    keyed = {
        table.name
        for table in Base.metadata.tables.values()
        if any(index.name == _key_of(table.name) for index in table.indexes)
    }
    assert len(keyed) >= 30
    assert {name: found[name] for name in keyed} == {
        name: _key_of(name) for name in keyed
    }


def test_on_sqlite_they_are_older(sqlite_url: URL) -> None:
    """SQLite would search with the newest one alike, which leads to no state."""
    engine = make_engine(sqlite_url)
    migrations.upgrade(engine)
    made = text(
        "SELECT tbl_name, name FROM sqlite_master"
        " WHERE sql LIKE 'CREATE %INDEX %' ORDER BY rowid"
    )
    of: dict[str, list[str]] = defaultdict(list)
    with engine.connect() as connection:
        for row in connection.execute(made):
            of[row.tbl_name].append(row.name)
    engine.dispose()
    keyed = {table: names for table, names in of.items() if _key_of(table) in names}
    assert len(keyed) >= 30
    assert {table: names[0] for table, names in keyed.items()} == {
        table: _key_of(table) for table in keyed
    }


def _key_of(table: str) -> str:
    return f"uq_{table}_congregation_id_id"
