"""Where the page of an audit entry's subject is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from flask import current_app, url_for

from tasks.models import AuditEntry, Congregation

#: subject_kind -> (endpoint, the name of its argument)
PAGES: Final[Mapping[str, tuple[str, str]]] = {
    "rule": ("rules.detail", "rule_id"),
    "execution": ("executions.detail", "execution_id"),
    "scheduled_job": ("scheduled.detail", "job_id"),
    "operation": ("operations.detail", "operation_id"),
    "hold": ("holds.detail", "hold_id"),
    "lane": ("lanes.detail", "name"),
    "source": ("sources.detail", "source_id"),
    "feed": ("sources.feed", "feed_id"),
    "endpoint": ("webhooks.detail", "endpoint_id"),
    "delivery": ("webhooks.delivery", "delivery_id"),
    "event": ("events.detail", "event_id"),
    "engagement": ("outreach.detail", "engagement_id"),
    "contact": ("outreach.contact", "contact_id"),
    "operator": ("operators.edit", "operator_id"),
    "digest_mail": ("notifications.mail", "mail_id"),
    "account": ("notifications.recipient", "account_id"),
}


def subject_url(entry: AuditEntry, congregation: Congregation | None) -> str | None:
    """Return the address of the subject's page; None when it has none.

    The page may answer that the row is gone: the log outlives what it tells of.
    """
    if entry.subject_kind == "congregation":
        if congregation is None:
            return None
        return url_for("congregations.detail", slug=congregation.slug)
    if entry.subject_kind not in PAGES:
        return None
    endpoint, argument = PAGES[entry.subject_kind]
    is_one = argument == "name" or _is_uuid(entry.subject_id)  # "many" is none
    if endpoint not in current_app.view_functions or not is_one:
        return None
    values: dict[str, Any] = {argument: entry.subject_id}
    return url_for(endpoint, **values)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
