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
    # what is counted, taken back or removed
    "executions": mark("%(rows)s executions"),
    "scheduled_jobs": mark("%(rows)s scheduled jobs"),
    "jobs": mark("%(rows)s jobs"),
    "long_jobs": mark("%(rows)s long jobs"),
    "decisions": mark("%(rows)s decisions"),
    "events": mark("%(rows)s events"),
    "deliveries": mark("%(rows)s deliveries"),
    "messages": mark("%(rows)s messages"),
    "mails": mark("%(rows)s mails"),
    "admin_mails": mark("%(rows)s admin mails"),
    "lane_runs": mark("%(rows)s lane runs"),
    "answers": mark("%(rows)s answers"),
    "workers": mark("%(rows)s workers"),
    "calls": mark("%(rows)s calls"),
    "guest_lists": mark("%(rows)s guest lists"),
    "contact_lists": mark("%(rows)s contact lists"),
    "import_lines": mark("%(rows)s import lines"),
    "operations": mark("%(rows)s operations"),
    "failure_hours": mark("%(rows)s failure hours"),
    "failure_groups": mark("%(rows)s failure groups"),
    "tallies": mark("%(rows)s tallies"),
    "tokens": mark("%(rows)s tokens"),
    "consents": mark("%(rows)s consents"),
    "notifications": mark("%(rows)s notifications"),
    "untold": mark("%(rows)s untold"),
    "digests": mark("%(rows)s digests"),
    "syncs": mark("%(rows)s syncs"),
    "transfers": mark("%(rows)s transfers"),
    "lane_rollups_hours": mark("%(rows)s lane rollups hours"),
    "lane_rollups_days": mark("%(rows)s lane rollups days"),
    "congregation_rollups_hours": mark("%(rows)s congregation rollups hours"),
    "congregation_rollups_days": mark("%(rows)s congregation rollups days"),
    "rule_rollups_hours": mark("%(rows)s rule rollups hours"),
    "rule_rollups_days": mark("%(rows)s rule rollups days"),
    "files": mark("%(rows)s files"),
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
