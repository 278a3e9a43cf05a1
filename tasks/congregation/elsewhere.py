"""Tables of a congregation in which nothing is erased when somebody is anonymised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OUTREACH: Final = (
    "Guests and contacts are known for another reason, and have their own rules."
)
_WORK: Final = "What rules sent to guests and contacts; the janitor removes it in time."
_OPERATORS: Final = "Names operators and producers, who answer for what they did."
_THINGS: Final = "About things; nobody's name has a place there."

#: Every other table of a congregation -> why nothing is erased there.
ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "agents",
            "bookings",
            "contact_drafts",
            "contact_import_lines",
            "contact_imports",
            "contacts",
            "engagement_messages",
            "engagements",
            "episode_guests",
            "external_bookings",
            "guest_imports",
            "outreach_campaigns",
            "outreach_tallies",
            "source_calls",
        ),
        _OUTREACH,
    ),
    **dict.fromkeys(
        (
            "attempts",
            "decisions",
            "deliveries",
            "delivery_attempts",
            "event_data",
            "events",
            "execution_contexts",
            "execution_edits",
            "execution_messages",
            "executions",
            "failed_deliveries",
            "failed_executions",
            "failure_groups",
            "failure_hours",
            "outbox",
            "rate_slots",
            "replans",
            "replays",
            "rule_volumes",
            "scheduled_job_contexts",
            "scheduled_jobs",
            "webhook_messages",
            "zone_moves",
        ),
        _WORK,
    ),
    **dict.fromkeys(
        (
            "admin_mails",
            "api_tokens",
            "holds",
            "idempotency_records",
            "operations",
            "operator_congregations",
            "rule_versions",
            "rules",
            "saved_views",
            "syncs",
            "transfers",
            "volume_limits",
        ),
        _OPERATORS,
    ),
    **dict.fromkeys(
        (
            "address_areas",
            "board_sections",
            "booking_links",
            "campaign_territories",
            "congregation_rollups",
            "daily_runs",
            "digests",
            "document_versions",
            "documents",
            "duties",
            "endpoints",
            "episodes",
            "external_refs",
            "feed_items",
            "feeds",
            "loose_files",
            "podcasts",
            "rule_podcasts",
            "rule_budgets",
            "rule_rollups",
            "sources",
            "stored_files",
        ),
        _THINGS,
    ),
    "erasures": "The ledger itself: ids alone.",
}
