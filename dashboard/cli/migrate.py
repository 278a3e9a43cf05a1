"""``carillon migrate``, and how developers write the next step."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
from alembic import command
from alembic.script import Script
from sqlalchemy import Engine, make_url

import dashboard.operators.models  # noqa: F401  # its tables join the metadata
from dashboard.cli.settings import database, read_config
from tasks import migrations
from tasks.db import make_engine
from tasks.models import Base

Written = Script | list[Script | None] | None


@click.command()
def migrate() -> None:
    """Bring the database to what this version expects."""
    config = read_config()
    with database(config) as engine:
        if migrations.is_current(engine):
            click.echo("The database is up to date.")
            return
        migrations.upgrade(engine)
        click.echo("The database is up to date now.")


@click.command(hidden=True)
@click.argument("sentence")
def new_migration(sentence: str) -> None:
    """Write the step from the last migration to the models; read it before use."""
    with tempfile.TemporaryDirectory() as folder:
        engine = make_engine(make_url(f"sqlite:///{Path(folder) / 'empty.db'}"))
        migrations.upgrade(engine)
        click.echo(_write_step(engine, sentence.rstrip(".")))
        engine.dispose()


def _write_step(engine: Engine, sentence: str) -> str:
    """Return the path of the new file."""
    config = migrations.alembic_config()
    number = len(list((migrations.FOLDER / "versions").glob("*.py"))) + 1
    with engine.begin() as connection:
        config.attributes.update(connection=connection, metadata=Base.metadata)
        config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
        written = command.revision(
            config, sentence, autogenerate=True, rev_id=f"{number:04}"
        )
    return ", ".join(str(each.path) for each in _listed(written))


def _listed(written: Written) -> list[Script]:
    """Make one of Alembic's three ways to answer of them all."""
    many = written if isinstance(written, list) else [written]
    return [each for each in many if each is not None]
