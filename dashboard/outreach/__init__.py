"""Outreach: contacts, engagements, agents, and lists that were imported."""

from dashboard.outreach import agent_views, contact_views, editing
from dashboard.outreach.views import bp

__all__ = ["agent_views", "bp", "contact_views", "editing"]
