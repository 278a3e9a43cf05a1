"""The columns of exports of agents, their campaigns and lists, holds, retention."""

from __future__ import annotations

from typing import Final

from dashboard.exports.columns import Columns, text

AGENTS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "address": lambda line: line.row.address,
    "congregation": lambda line: line.congregation,
    "daily_cap": lambda line: line.row.daily_cap,
    "paused_at": lambda line: line.row.paused_at,
    "made_at": lambda line: line.row.created_at,
}
OUTREACH_CAMPAIGNS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "name": lambda line: line.row.name,
    "congregation": lambda line: line.congregation,
    "daily_cap": lambda line: line.row.daily_cap,
    "made_at": lambda line: line.row.created_at,
}
CONTACT_IMPORTS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "file": lambda line: line.row.filename or None,
    "congregation": lambda line: line.congregation,
    "new": lambda line: line.row.counts.get("created", 0),
    "rows": lambda line: sum(line.row.counts.values()),
    "by": lambda line: line.row.created_by,
    "imported_at": lambda line: line.row.created_at,
    "undone_at": lambda line: line.row.undone_at,
    "removed": lambda line: line.row.n_removed,
}
HOLDS: Final[Columns] = {
    "id": lambda line: text(line.hold.id),
    "kind": lambda line: text(line.hold.kind),
    "channel": lambda line: text(line.hold.channel),
    "rule": lambda line: line.rule,
    "congregation": lambda line: line.congregation,
    "why": lambda line: line.hold.why,
    "held_by": lambda line: line.hold.held_by,
    "held_at": lambda line: line.hold.held_at,
    "ended_at": lambda line: line.hold.lifted_at or line.hold.until,
    "lifted_by": lambda line: line.hold.lifted_by,
}
LEDGER: Final[Columns] = {
    "id": lambda row: text(row.id),
    "what": lambda row: text(row.entity_type),
    "of": lambda row: text(row.entity_id),
    "ref": lambda row: row.external_ref,
    "asked_by": lambda row: row.requested_by,
    "asked_at": lambda row: row.requested_at,
    "done_at": lambda row: row.completed_at,
}
#: What a version says are settings of a rule, which no file has.
VERSIONS: Final[Columns] = {
    "version": lambda row: row.version,
    "how": lambda row: row.verb,
    "by": lambda row: row.actor,
    "made_at": lambda row: row.created_at,
}
RETENTION: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "name": lambda line: line.row.name,
    "slug": lambda line: line.row.slug,
    "months": lambda line: line.row.retention_months,
    "last_done_at": lambda line: line.run.done_at if line.run else None,
    "last_failed_at": lambda line: line.run.failed_at if line.run else None,
}
