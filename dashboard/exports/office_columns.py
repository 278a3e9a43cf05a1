"""The columns of the exports of lists of what is set up, and of the back office.

No secret, no address of an endpoint, no settings, no notes on people.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from dashboard.exports.columns import Columns, text
from tasks.models import Endpoint


def _endpoint(row: Endpoint) -> str | None:
    # An address may hold a secret in its path; its host does not.
    return row.description or urlsplit(row.url).hostname


RULES: Final[Columns] = {
    "id": lambda line: text(line.rule.id),
    "name": lambda line: line.rule.name,
    "enabled": lambda line: int(line.rule.enabled),
    "trigger": lambda line: line.rule.trigger_type,
    "action": lambda line: line.rule.action,
    "steps": lambda line: len(line.rule.steps),
    "podcast_ids": lambda line: " ".join(line.rule.podcast_ids or ()),
    "congregation": lambda line: line.congregation,
    "version": lambda line: line.rule.version,
    "last_fired_at": lambda line: line.last_fired_at,
    "made_at": lambda line: line.rule.created_at,
    "changed_at": lambda line: line.rule.updated_at,
}
FAILURES: Final[Columns] = {
    "id": lambda line: text(line.group.id),
    "cause": lambda line: line.group.cause,
    "reason": lambda line: text(line.group.reason),
    "action": lambda line: line.group.action,
    "rule": lambda line: line.rule,
    "endpoint": lambda line: _endpoint(line.endpoint) if line.endpoint else None,
    "congregation": lambda line: line.congregation,
    "failures": lambda line: line.group.n,
    "first_at": lambda line: line.group.first_at,
    "last_at": lambda line: line.group.last_at,
    "acknowledged_by": lambda line: line.group.acknowledged_by,
    "acknowledged_at": lambda line: line.group.acknowledged_at,
    "quiet_until": lambda line: line.group.quiet_until,
    "note": lambda line: line.group.note,
}
ENDPOINTS: Final[Columns] = {
    "id": lambda line: text(line.endpoint.id),
    "endpoint": lambda line: _endpoint(line.endpoint),
    "enabled": lambda line: int(line.endpoint.enabled),
    "event_types": lambda line: " ".join(line.endpoint.event_types or ("*",)),
    "congregation": lambda line: line.congregation,
    "failures": lambda line: line.endpoint.failures,
    "failing_since": lambda line: line.endpoint.failing_since,
    "delivered_at": lambda line: line.endpoint.delivered_at,
    "failed_at": lambda line: line.endpoint.failed_at,
    "made_by": lambda line: line.endpoint.created_by,
    "made_at": lambda line: line.endpoint.created_at,
}
TERRITORIES: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "number": lambda line: line.row.number,
    "name": lambda line: line.row.name,
    "kind": lambda line: text(line.row.kind),
    "congregation": lambda line: line.congregation.name,
    "made_at": lambda line: line.row.created_at,
}
CAMPAIGNS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "name": lambda line: line.row.name,
    "state": lambda line: text(line.row.state),
    "starts_on": lambda line: text(line.row.starts_on),
    "ends_on": lambda line: text(line.row.ends_on),
    "congregation": lambda line: line.congregation.name,
    "planned_by": lambda line: line.row.created_by,
    "made_at": lambda line: line.row.created_at,
}
GROUPS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "name": lambda line: line.row.name,
    "congregation": lambda line: line.congregation.name,
    "responsible": lambda line: line.head.name,
    "deputy": lambda line: line.deputy.name if line.deputy else None,
    "members": lambda line: line.n_members,
}
DOCUMENTS: Final[Columns] = {
    "id": lambda line: text(line.document.id),
    "title": lambda line: line.document.title,
    "section": lambda line: line.section.name,
    "file": lambda line: line.document.filename,
    "bytes": lambda line: line.file.size,
    "visible_from": lambda line: text(line.document.visible_from),
    "visible_until": lambda line: text(line.document.visible_until),
    "highlighted": lambda line: int(line.document.is_highlighted),
    "congregation": lambda line: line.congregation.name,
    "changed_at": lambda line: line.document.updated_at,
}
ADDRESSES: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "number": lambda line: line.row.number,
    "street": lambda line: line.row.street,
    "postcode": lambda line: line.row.postcode,
    "city": lambda line: line.row.city,
    "insee": lambda line: line.row.insee,
    "lat": lambda line: text(line.row.lat),
    "lon": lambda line: text(line.row.lon),
    "congregation": lambda line: line.congregation,
    "active": lambda line: int(line.row.is_active),
    "in_territory": lambda line: int(line.row.in_territory),
    "placed_by_hand": lambda line: int(line.row.is_hand_placed),
    "missing_since": lambda line: line.row.missing_since,
}
SYNCS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "kind": lambda line: text(line.row.kind),
    "state": lambda line: text(line.row.state),
    "congregation": lambda line: line.congregation.name,
    "new": lambda line: line.row.report.get("created"),
    "changed": lambda line: line.row.report.get("updated"),
    "missing": lambda line: line.row.report.get("missing"),
    "asked_by": lambda line: line.row.requested_by,
    "asked_at": lambda line: line.row.requested_at,
    "ended_at": lambda line: line.row.ended_at,
    "error": lambda line: line.row.error,
}
TRANSFERS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "kind": lambda line: text(line.row.kind),
    "state": lambda line: text(line.row.state),
    "file": lambda line: line.row.file_name,
    "bytes": lambda line: line.row.file_size,
    "congregation": lambda line: line.congregation,
    "asked_by": lambda line: line.row.requested_by,
    "asked_at": lambda line: line.row.requested_at,
    "ended_at": lambda line: line.row.ended_at,
    "error": lambda line: line.row.error,
}
RECIPIENTS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "address": lambda line: line.row.email,
    "name": lambda line: line.row.name,
    "active": lambda line: int(line.row.is_active),
    "congregation": lambda line: line.congregation,
    "made_at": lambda line: line.row.created_at,
}
CONGREGATIONS: Final[Columns] = {
    "id": lambda row: text(row.id),
    "name": lambda row: row.name,
    "slug": lambda row: row.slug,
    "locale": lambda row: row.locale,
    "timezone": lambda row: row.timezone,
    "made_at": lambda row: row.created_at,
}
TOKENS: Final[Columns] = {
    "id": lambda line: text(line.token.id),
    "name": lambda line: line.token.name,
    "state": lambda line: line.state,
    "scopes": lambda line: line.token.scopes,
    "congregation": lambda line: line.congregation,
    "last_used_at": lambda line: line.token.last_used_at,
    "expires_at": lambda line: line.token.expires_at,
    "revoked_at": lambda line: line.token.revoked_at,
    "made_by": lambda line: line.token.created_by,
    "made_at": lambda line: line.token.created_at,
}
