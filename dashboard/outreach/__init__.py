"""Outreach: contacts, engagements, agents, and lists that are imported."""

from dashboard.outreach import (
    agent_views,
    bulk,
    caps,
    contact_views,
    draft_views,
    editing,
    import_views,
)
from dashboard.outreach.views import bp

__all__ = [
    "agent_views",
    "bp",
    "bulk",
    "caps",
    "contact_views",
    "draft_views",
    "editing",
    "import_views",
]
