"""``carillon emit``: report an event by hand."""

from __future__ import annotations

import json
from typing import Any

import click

from dashboard.cli.settings import read_config, tables
from dashboard.cli.token import find_congregation
from tasks import queue
from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.db import sessions
from tasks.errors import InvalidInput


@click.command()
@click.argument("trigger")
@click.option("--podcast", required=True, help="Id of the podcast.")
@click.option("--congregation", help="Its slug; not needed when there is only one.")
@click.option("--episode", help="Id of the episode.")
@click.option("--booking", help="Id of the booking.")
@click.option("--guest", help="Id of the guest.")
@click.option("--event-id", help="Your own id of it: the same one counts once.")
@click.option("--context", metavar="JSON", help="More values for the templates.")
def emit(trigger: str, podcast: str, congregation: str | None, **given: str) -> None:
    """Report an event by hand.

    TRIGGER says what happened, such as booking.confirmed.
    """
    config = read_config()
    queue.configure(config)
    context = _context(given.pop("context"))
    with tables(config) as engine, sessions(engine).begin() as session:
        found = find_congregation(session, congregation)
        result = emit_automation_event(
            session,
            AutomationEvent(
                trigger_type=trigger,
                podcast_id=podcast,
                congregation_id=found.id,
                episode_id=given["episode"],
                booking_id=given["booking"],
                guest_id=given["guest"],
                event_id=given["event_id"],
                context=context,
                source="cli",
            ),
        )
        if not result.success:
            raise InvalidInput(
                result.error_code or "not_emitted", result.error or "It was refused."
            )
    again = " It was known already." if result.is_duplicate else ""
    click.echo(f"Executions created: {result.executions_created}.{again}")


def _context(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"--context is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise click.BadParameter('--context must be an object, such as {"a": "b"}.')
    return value
