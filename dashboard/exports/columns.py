"""The columns of every export: a name, and the value of one row.

No context, no message, no answer of another system, no address of an endpoint: those
hold secrets and bodies, and their pages show them to who may see them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from dashboard.exports.files import Value
from dashboard.webhooks.deliveries import DeliveryRow

#: Name -> the value of a row, as its list shows rows.
Columns = Mapping[str, Callable[[Any], Value]]


def text(value: object) -> str | None:
    """Return an id or a word as text."""
    return None if value is None else str(value)


def _endpoint(line: DeliveryRow) -> str | None:
    # An address may hold a secret in its path; its host does not.
    return line.endpoint.description or urlsplit(line.endpoint.url).hostname


EXECUTIONS: Final[Columns] = {
    "id": lambda line: text(line.execution.id),
    "state": lambda line: text(line.execution.state),
    "reason": lambda line: text(line.execution.reason),
    "rule": lambda line: line.rule,
    "rule_version": lambda line: line.execution.rule_version,
    "action": lambda line: line.execution.action,
    "trigger": lambda line: line.execution.trigger_type,
    "recipient": lambda line: line.execution.recipient,
    "guest": lambda line: line.guest or line.invited,
    "booking_id": lambda line: line.execution.booking_id,
    "episode": lambda line: line.episode,
    "podcast": lambda line: line.podcast,
    "congregation": lambda line: line.congregation,
    "event_id": lambda line: text(line.execution.event_id),
    "made_at": lambda line: line.execution.created_at,
    "due_at": lambda line: line.execution.due_at,
    "started_at": lambda line: line.started_at,
    "settled_at": lambda line: line.execution.settled_at,
    "tries": lambda line: line.tries,
    "max_tries": lambda line: line.execution.max_attempts,
    "error": lambda line: line.execution.error,
}
SCHEDULED: Final[Columns] = {
    "id": lambda line: text(line.job.id),
    "state": lambda line: text(line.job.state),
    "reason": lambda line: text(line.job.reason),
    "rule": lambda line: line.rule,
    "rule_version": lambda line: line.job.rule_version,
    "action": lambda line: line.action,
    "trigger": lambda line: line.job.trigger_type,
    "guest": lambda line: line.guest or line.invited,
    "booking_id": lambda line: line.job.booking_id,
    "episode": lambda line: line.episode,
    "podcast": lambda line: line.podcast,
    "congregation": lambda line: line.congregation,
    "counts_from": lambda line: line.job.reference_at,
    "made_at": lambda line: line.job.created_at,
    "due_at": lambda line: line.job.due_at,
    "settled_at": lambda line: line.job.settled_at,
    "execution_id": lambda line: text(line.job.execution_id),
}
EVENTS: Final[Columns] = {
    "id": lambda row: text(row.event.id),
    "type": lambda row: row.event.type,
    "external_id": lambda row: row.event.external_id,
    "guest": lambda row: row.guest or row.booking_guest,
    "guest_id": lambda row: row.event.guest_id,
    "booking_id": lambda row: row.event.booking_id,
    "episode": lambda row: row.episode,
    "podcast": lambda row: row.podcast,
    "congregation": lambda row: row.congregation,
    "source": lambda row: row.event.source,
    "happened_at": lambda row: row.event.occurred_at,
    "heard_at": lambda row: row.event.created_at,
}
DELIVERIES: Final[Columns] = {
    "id": lambda line: text(line.delivery.id),
    "message_id": lambda line: text(line.delivery.message_id),
    "type": lambda line: line.delivery.type,
    "state": lambda line: text(line.delivery.state),
    "reason": lambda line: text(line.delivery.reason),
    "endpoint": _endpoint,
    "congregation": lambda line: line.congregation,
    "tries": lambda line: line.delivery.attempt,
    "status": lambda line: line.delivery.status_code,
    "error": lambda line: line.delivery.error,
    "made_at": lambda line: line.delivery.created_at,
    "settled_at": lambda line: line.delivery.settled_at,
}
