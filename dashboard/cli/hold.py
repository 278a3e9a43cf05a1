"""``carillon hold`` and ``carillon release``: the switch, when no browser is near."""

from __future__ import annotations

import getpass
from datetime import timedelta
from uuid import UUID

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.cli.settings import read_config, tables
from dashboard.cli.token import find_congregation
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.errors import NotFound
from tasks.holds import setting
from tasks.holds.finding import holds_now
from tasks.holds.plans import Chosen, Plan, lift_with, sentence_of
from tasks.models import Channel, Hold, new_id
from tasks.operations.audit import Actor


@click.command()
@click.argument("why")
@click.option("--congregation", help="Only of this congregation, by its slug.")
@click.option(
    "--channel",
    type=click.Choice([each.value for each in Channel]),
    help="Only what leaves this way.",
)
@click.option("--rule", type=click.UUID, help="Only of this rule, by its id.")
@click.option(
    "--hours",
    type=click.IntRange(1, 90 * 24),
    help="Ends by itself after so long.  [default: when it is released]",
)
def hold(
    why: str,
    congregation: str | None,
    channel: str | None,
    rule: UUID | None,
    hours: int | None,
) -> None:
    """Keep everything in the house, for WHY.

    What is due waits and uses up no try; every page of the console says so.
    The hold's id is printed alone on standard output.
    """
    now = utcnow()
    with (
        tables(read_config()) as engine,
        sessions(engine).begin() as session,
    ):
        found = find_congregation(session, congregation) if congregation else None
        what = setting.What(
            found.id if found else None, Channel(channel) if channel else None, rule
        )
        until = now + timedelta(hours=hours) if hours else None
        row = setting.hold(session, what, why, _who(), until=until, now=now)
        id_ = row.id
    click.echo("Held. From now on nothing of it leaves; let it go with:", err=True)
    click.echo(f"carillon release {id_}", err=True)
    click.echo(str(id_))


@click.command()
@click.argument("hold_id", metavar="[ID]", type=click.UUID, required=False)
@click.option(
    "--plan",
    type=click.Choice([each.value for each in Plan]),
    default=Plan.SEND.value,
    show_default=True,
    help="What becomes of what waited: sent as far as it is of use, or dropped.",
)
@click.option(
    "--minutes",
    type=click.IntRange(1, 1440),
    default=30,
    show_default=True,
    help="Read with --plan spread.",
)
def release(hold_id: UUID | None, plan: str, minutes: int) -> None:
    """Let go what is held.

    ID is that of the hold; it may be left out while there is only one.
    """
    now = utcnow()
    chosen = Chosen(Plan(plan), minutes, new_id(), now)
    with (
        tables(read_config()) as engine,
        sessions(engine).begin() as session,
    ):
        meant = hold_id or _only_one(session)
        operation = lift_with(session, meant, chosen, _who(), now=now)
        n = operation.n_total if operation else 0
    told = f"Released; {n} waited: {sentence_of(chosen)}" if n else "Released."
    click.echo(told if n else f"{told} Nothing waited.")


def _only_one(session: Session) -> UUID:
    found = session.execute(
        select(Hold.id, Hold.why).where(holds_now(utcnow())).limit(20)
    ).all()
    if not found:
        raise NotFound("nothing_held", "Nothing is held.")
    if len(found) > 1:
        names = ", ".join(f"{row.id} ({row.why})" for row in found)
        raise NotFound("several_held", f"Say which hold is meant: {names}.")
    id_: UUID = found[0].id
    return id_


def _who() -> Actor:
    """Return who acts: the name by which the machine knows them."""
    try:
        return Actor(f"{getpass.getuser()} (command line)"[:255])
    except (KeyError, OSError):  # a container's user may have no name
        return Actor("command line")
