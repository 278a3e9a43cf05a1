"""The columns of the exports of lists that a search alone narrows.

Of people stands here what tells them apart, and how they stand: no telephone numbers,
no addresses of homes, no days of birth, no notes.
"""

from __future__ import annotations

from typing import Final

from dashboard.exports.columns import Columns, text

OPERATIONS: Final[Columns] = {
    "id": lambda line: text(line.operation.id),
    "kind": lambda line: text(line.operation.kind),
    "state": lambda line: text(line.operation.state),
    "congregation": lambda line: line.congregation,
    "asked_by": lambda line: line.operation.actor,
    "why": lambda line: line.operation.why,
    "again": lambda line: int(line.operation.is_again),
    "rows": lambda line: line.operation.n_total,
    "done": lambda line: line.operation.n_done,
    "changed": lambda line: line.operation.n_changed,
    "made": lambda line: line.operation.n_made,
    "error": lambda line: line.operation.error,
    "asked_at": lambda line: line.operation.created_at,
    "started_at": lambda line: line.operation.started_at,
    "ended_at": lambda line: line.operation.ended_at,
}
#: What was so before and after stays in the log: it may hold anything.
AUDIT: Final[Columns] = {
    "id": lambda entry: text(entry.id),
    "at": lambda entry: entry.created_at,
    "who": lambda entry: entry.actor,
    "action": lambda entry: entry.action,
    "subject_kind": lambda entry: entry.subject_kind,
    "subject_id": lambda entry: entry.subject_id,
    "summary": lambda entry: entry.summary,
    "congregation_id": lambda entry: text(entry.congregation_id),
}
MEMBERS: Final[Columns] = {
    "id": lambda line: text(line.member.id),
    "last_name": lambda line: line.member.last_name,
    "first_name": lambda line: line.member.first_name,
    "congregation": lambda line: line.congregation.name,
    "group": lambda line: line.group,
    "publisher": lambda line: int(line.member.is_publisher),
    "elder": lambda line: int(line.member.is_elder),
    "servant": lambda line: int(line.member.is_servant),
    "joined_on": lambda line: text(line.member.joined_on),
    "inactive_on": lambda line: text(line.member.inactive_on),
    "left_on": lambda line: text(line.member.left_on),
    "hold_until": lambda line: text(line.member.hold_until),
    "anonymised_at": lambda line: line.member.anonymised_at,
}
ENGAGEMENTS: Final[Columns] = {
    "id": lambda line: text(line.row.id),
    "state": lambda line: text(line.row.wake_state),
    "agent": lambda line: line.agent.address,
    "address": lambda line: line.row.address,
    "name": lambda line: line.contact.display_name,
    "stage": lambda line: line.row.stage,
    "campaign": lambda line: line.row.campaign,
    "congregation": lambda line: line.congregation,
    "next_action_at": lambda line: line.row.next_action_at,
    "waits_for": lambda line: text(line.row.waits_for),
    "passed_because": lambda line: text(line.row.passed_because),
    "paused_at": lambda line: line.row.paused_at,
    "suppressed": lambda line: int(line.is_suppressed),
    "replied": lambda line: int(line.row.has_replied),
    "last_outbound_at": lambda line: line.row.last_outbound_at,
    "last_inbound_at": lambda line: line.row.last_inbound_at,
    "made_at": lambda line: line.row.created_at,
}
CONTACTS: Final[Columns] = {
    "id": lambda line: text(line.contact.id),
    "address": lambda line: line.contact.address,
    "name": lambda line: line.contact.display_name,
    "source": lambda line: text(line.contact.source),
    "congregation": lambda line: line.congregation,
    "made_at": lambda line: line.contact.created_at,
}
MAILS: Final[Columns] = {
    "id": lambda line: text(line.mail.id),
    "state": lambda line: text(line.mail.state),
    "reason": lambda line: text(line.mail.reason),
    "recipient": lambda line: line.account.email,
    "category": lambda line: line.category,
    "congregation": lambda line: line.congregation,
    "tries": lambda line: line.mail.attempt,
    "error": lambda line: line.mail.error,
    "made_at": lambda line: line.mail.created_at,
    "settled_at": lambda line: line.mail.settled_at,
}
SUPPRESSIONS: Final[Columns] = {
    "id": lambda line: text(line.suppression.id),
    "address": lambda line: line.suppression.address,
    "agent": lambda line: line.suppression.agent,
    "reason": lambda line: text(line.suppression.reason),
    "congregation": lambda line: line.congregation,
    "by": lambda line: line.suppression.created_by,
    "since": lambda line: line.suppression.created_at,
}
#: Errors of lanes may name what belongs to any congregation.
RUNS: Final[Columns] = {
    "id": lambda run: text(run.id),
    "lane": lambda run: run.lane,
    "trigger": lambda run: text(run.trigger),
    "asked_by": lambda run: run.requested_by,
    "asked_at": lambda run: run.requested_at,
    "started_at": lambda run: run.started_at,
    "ended_at": lambda run: run.ended_at,
    "worker": lambda run: run.worker,
    "moved": lambda run: run.n_moved,
    "failed": lambda run: int(run.error is not None),
}
