"""The HTTP API for producers, under ``/api/v1``."""

from dashboard.api import events, lists, records, verbs
from dashboard.api.blueprint import api

#: The name by which ``create_app`` finds a blueprint.
bp = api

__all__ = ["api", "bp", "events", "lists", "records", "verbs"]
