"""What a run moved, in words: one for each outcome that a sweep can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask.blueprints import BlueprintSetupState

from tasks.saying import mark, say, written

#: The fields of all ``Swept``, by their names.
OUTCOMES: Final[Mapping[str, str]] = {
    # executions, scheduled jobs, wake-ups, deliveries and mails
    "succeeded": mark("%(rows)s succeeded"),
    "retried": mark("%(rows)s retried"),
    "failed": mark("%(rows)s failed"),
    "skipped": mark("%(rows)s skipped"),
    "deferred": mark("%(rows)s deferred"),
    "released": mark("%(rows)s released"),
    "slow": mark("%(rows)s slow"),
    "lost": mark("%(rows)s lost"),
    "cancelled": mark("%(rows)s cancelled"),
    "quarantined": mark("%(rows)s quarantined"),
    "dispatched": mark("%(rows)s dispatched"),
    "missed": mark("%(rows)s missed"),
    "superseded": mark("%(rows)s superseded"),
    "waiting": mark("%(rows)s waiting"),
    "announced": mark("%(rows)s announced"),
    "passed": mark("%(rows)s passed"),
    "set_aside": mark("%(rows)s set aside"),
    "fanned_out": mark("%(rows)s fanned out"),
    "delivered": mark("%(rows)s delivered"),
    "disabled": mark("%(rows)s disabled"),
    "sent": mark("%(rows)s sent"),
    "gathered": mark("%(rows)s gathered"),
    "taken_back": mark("%(rows)s taken back"),
    "held": mark("%(rows)s held"),
    # feeds, files, congregations, and work that takes minutes
    "changed": mark("%(rows)s changed"),
    "unchanged": mark("%(rows)s unchanged"),
    "made": mark("%(rows)s made"),
    "done": mark("%(rows)s done"),
    "given_back": mark("%(rows)s given back"),
    "expired": mark("%(rows)s expired"),
    "continued": mark("%(rows)s continued"),
    "finished": mark("%(rows)s finished"),
    "activated": mark("%(rows)s activated"),
    "ended": mark("%(rows)s ended"),
    "looked_over": mark("%(rows)s looked over"),
    "told": mark("%(rows)s told"),
    "anonymised": mark("%(rows)s anonymised"),
    "noticed": mark("%(rows)s noticed"),
    "blocked": mark("%(rows)s blocked"),
    "not_erased": mark("%(rows)s not erased"),
    # what is counted, taken back or removed: right for one as well
    "executions": mark("executions: %(rows)s"),
    "scheduled_jobs": mark("scheduled jobs: %(rows)s"),
    "jobs": mark("jobs: %(rows)s"),
    "long_jobs": mark("long jobs: %(rows)s"),
    "decisions": mark("decisions: %(rows)s"),
    "events": mark("events: %(rows)s"),
    "deliveries": mark("deliveries: %(rows)s"),
    "messages": mark("messages: %(rows)s"),
    "mails": mark("mails: %(rows)s"),
    "admin_mails": mark("admin mails: %(rows)s"),
    "lane_runs": mark("lane runs: %(rows)s"),
    "answers": mark("answers: %(rows)s"),
    "workers": mark("workers: %(rows)s"),
    "calls": mark("calls: %(rows)s"),
    "guest_lists": mark("guest lists: %(rows)s"),
    "contact_lists": mark("contact lists: %(rows)s"),
    "import_lines": mark("import lines: %(rows)s"),
    "operations": mark("operations: %(rows)s"),
    "failure_hours": mark("failure hours: %(rows)s"),
    "failure_groups": mark("failure groups: %(rows)s"),
    "tallies": mark("tallies: %(rows)s"),
    "tokens": mark("tokens: %(rows)s"),
    "consents": mark("consents: %(rows)s"),
    "notifications": mark("notifications: %(rows)s"),
    "untold": mark("%(rows)s untold"),
    "digests": mark("digests: %(rows)s"),
    "syncs": mark("syncs: %(rows)s"),
    "transfers": mark("transfers: %(rows)s"),
    "lane_rollups_hours": mark("lane rollups hours: %(rows)s"),
    "lane_rollups_days": mark("lane rollups days: %(rows)s"),
    "congregation_rollups_hours": mark("congregation rollups hours: %(rows)s"),
    "congregation_rollups_days": mark("congregation rollups days: %(rows)s"),
    "rule_rollups_hours": mark("rule rollups hours: %(rows)s"),
    "rule_rollups_days": mark("rule rollups days: %(rows)s"),
    "files": mark("files: %(rows)s"),
}


def outcome(name: str, n: int) -> str:
    """Return an outcome with its rows; one of another version is told by its name.

    >>> outcome("set_aside", 3), outcome("sung_to", 1200)
    ('3 set aside', '1\\u202f200 sung to')
    """
    if name not in OUTCOMES:
        return f"{written(n)} {name.replace('_', ' ')}"
    return say(OUTCOMES[name], rows=n)


def give(state: BlueprintSetupState) -> None:
    """Let templates tell what a run moved."""
    state.app.jinja_env.globals.update(outcome=outcome)
