"""The HTTP API for producers, under ``/api/v1``."""

from dashboard.api import (
    caps,
    contact_imports,
    contacts,
    engagements,
    events,
    lists,
    records,
    suppressions,
    verbs,
    webhooks,
)
from dashboard.api.blueprint import api

#: The name by which ``create_app`` finds a blueprint.
bp = api

__all__ = [
    "api",
    "bp",
    "caps",
    "contact_imports",
    "contacts",
    "engagements",
    "events",
    "lists",
    "records",
    "suppressions",
    "verbs",
    "webhooks",
]
