"""``carillon token``: a key with which a producer calls the API."""

from __future__ import annotations

from datetime import timedelta

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.cli.settings import read_config, tables
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.errors import NotFound
from tasks.models import Congregation
from tasks.operations.audit import SYSTEM
from tasks.operations.tokens import SCOPES, create_token


@click.command()
@click.argument("congregation")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(list(SCOPES)),
    help="What it may do; may be given several times.  [default: everything]",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    help="How long it is good for.  [default: until it is revoked]",
)
def token(
    congregation: str, name: str, scopes: tuple[str, ...], days: int | None
) -> None:
    """Make an API token for a CONGREGATION.

    The congregation is named by its slug; NAME says whose token it is.

    The token is printed alone on standard output, this once.
    """
    now = utcnow()
    with (
        tables(read_config()) as engine,
        sessions(engine).begin() as session,
    ):
        found = find_congregation(session, congregation)
        expires_at = None if days is None else now + timedelta(days=days)
        made, plaintext = create_token(
            session, found.id, name, scopes or tuple(SCOPES), expires_at, SYSTEM
        )
        sentence = f"Token {made.name!r} of {found.name}; it is not shown again:"
    click.echo(sentence, err=True)
    click.echo(plaintext)


def find_congregation(session: Session, slug: str | None) -> Congregation:
    """Return the congregation with this slug; ``None`` means the only one.

    Raises:
        NotFound: there is none, or several and no slug; the message lists some.
    """
    known = session.scalars(
        select(Congregation).order_by(Congregation.slug).limit(20)
    ).all()
    if not known:
        raise NotFound(
            "unknown_congregation",
            "There is no congregation yet; make one in the console first.",
        )
    if slug is None and len(known) == 1:
        return known[0]
    found = session.scalar(select(Congregation).where(Congregation.slug == slug))
    if found is None:
        names = ", ".join(each.slug for each in known)
        raise NotFound(
            "unknown_congregation",
            f"There is no congregation {slug!r}; there are: {names}."
            if slug
            else f"Say which congregation is meant: {names}.",
        )
    return found
