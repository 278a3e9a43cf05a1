"""Tables of a congregation that no archive takes along, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_SECRETS: Final = "Secrets never travel; make them anew at the target."
_PRODUCERS: Final = "Producers keep it up to date over the API, at the target as well."
_RULES: Final = "Rules travel as YAML files of their own (docs/rules.md)."
_HISTORY: Final = "It tells what this installation did; nothing acts on it elsewhere."
_WORK: Final = "Work under way belongs to the lanes of this installation."
_AGENTS: Final = "Agents' work goes on where their contacts are; lists are imported."
_SOURCES: Final = "Connections to services name this installation's address."

#: Table -> why it stays.
STAYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # secrets
        "account_tokens": _SECRETS,
        "api_tokens": _SECRETS,
        # podcasts, and what happens around them
        "podcasts": _PRODUCERS,
        "booking_links": _PRODUCERS,
        "bookings": _PRODUCERS,
        "external_bookings": _PRODUCERS,
        "episodes": _PRODUCERS,
        "episode_guests": _PRODUCERS,
        "guest_imports": _WORK,
        # rules
        "rules": _RULES,
        "rule_podcasts": _RULES,
        "rule_versions": _RULES,
        "replans": _WORK,
        "zone_moves": _WORK,
        "rate_slots": _WORK,
        # what was done
        "events": _HISTORY,
        "event_data": _HISTORY,
        "decisions": _HISTORY,
        "executions": _HISTORY,
        "execution_contexts": _HISTORY,
        "execution_messages": _HISTORY,
        "execution_edits": _HISTORY,
        "rule_volumes": _HISTORY,
        "attempts": _HISTORY,
        "failed_executions": _HISTORY,
        "failed_deliveries": _HISTORY,
        "failure_groups": _HISTORY,
        "failure_hours": _HISTORY,
        "replays": _HISTORY,
        "operations": _HISTORY,
        "saved_views": "They belong to the operators of the console that it leaves.",
        "audit_entries": "It goes out where that is asked for, and never comes in.",
        "idempotency_records": _HISTORY,
        "daily_runs": _HISTORY,
        "congregation_rollups": _HISTORY,
        "rule_budgets": _RULES,
        "rule_rollups": _HISTORY,
        "syncs": _HISTORY,
        "transfers": _HISTORY,
        "external_refs": "It says where rows came from; each import writes its own.",
        "retention_blocks": "The lane finds them again with its next run.",
        # what is to be done
        "scheduled_jobs": _WORK,
        "scheduled_job_contexts": _WORK,
        "outbox": _WORK,
        "admin_mails": _WORK,
        "digests": _WORK,
        "digest_items": _WORK,
        "digest_mails": _WORK,
        "notifications": _WORK,
        "loose_files": _WORK,
        "holds": _WORK,
        "volume_limits": _WORK,
        # outreach
        "agents": _AGENTS,
        "contacts": _AGENTS,
        "contact_drafts": _AGENTS,
        "contact_imports": _AGENTS,
        "contact_import_lines": _AGENTS,
        "engagements": _AGENTS,
        "engagement_messages": _AGENTS,
        "outreach_campaigns": _AGENTS,
        "outreach_tallies": _HISTORY,
        "suppressions": "Unsubscribing is said to a sender; the target is another one.",
        # connections
        "endpoints": _SECRETS,
        "deliveries": _HISTORY,
        "delivery_attempts": _HISTORY,
        "webhook_messages": _HISTORY,
        "sources": _SOURCES,
        "source_calls": _HISTORY,
        "feeds": _SOURCES,
        "feed_items": _SOURCES,
    }
)
