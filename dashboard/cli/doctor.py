"""``carillon doctor``: what is wrong, and what to do about it."""

from __future__ import annotations

import sys

import click

from dashboard.cli.checkup import check_all
from dashboard.cli.settings import read_config


@click.command()
def doctor() -> None:
    """Say what is wrong, and what to do.

    Looks at database, migrations, clock, worker, broker, mail server, storage of files
    and the tool that draws thumbnails.

    Ends with status 1 when something is wrong.
    """
    config = read_config()
    click.echo(f"mode        {config.environment}, console at {config.base_url}")
    n_ill = 0
    for finding in check_all(config):
        mark = "ok " if finding.is_well else "ILL"
        click.echo(f"{finding.subject:<11} {mark}  {finding.sentence}")
        if not finding.is_well:
            n_ill += 1
            click.echo(f"{'':<16} {finding.advice}")
    if n_ill:
        click.echo(f"{n_ill} of these need you.")
        sys.exit(1)
    click.echo("All is well.")
