"""``carillon create-operator``: somebody who may log in."""

from __future__ import annotations

import sys

import click

from dashboard.cli.settings import read_config, tables
from dashboard.operators.accounts import create_operator as add
from dashboard.operators.models import RoleName
from dashboard.operators.setup import new_password_link
from tasks.db import sessions


@click.command()
@click.argument("email")
@click.option(
    "--role",
    type=click.Choice([role.value for role in RoleName]),
    default=RoleName.OPERATOR.value,
    show_default=True,
    help="What the operator may do.",
)
@click.option("--name", default="", help="Shown in the console and the audit log.")
@click.option(
    "--password-stdin",
    is_flag=True,
    help="Read the password from standard input instead of printing a link.",
)
def create_operator(email: str, role: str, name: str, password_stdin: bool) -> None:
    """Add an operator who sees every congregation.

    Prints a link with which they set their password; it works once, for a day.
    """
    config = read_config()
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
    with tables(config) as engine, sessions(engine).begin() as session:
        operator = add(session, email, password, role, name=name)
        address = operator.email
        link = (
            None if password else new_password_link(session, operator, config.base_url)
        )
    click.echo(f"{address} is {role} now.")
    if link is not None:
        click.echo(f"Set the password within a day: {link}")
