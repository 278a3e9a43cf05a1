"""Contacts and engagements for tests, made as producers make them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models import Engagement
from tasks.outreach.engagements import save_engagement
from tests.support.factories import NOW

AGENT = "sales@agents.example.org"
ADDRESS = "zoe@example.org"


def engagement(
    session: Session,
    congregation_id: UUID,
    address: str = ADDRESS,
    *,
    agent: str = AGENT,
    **values: Any,
) -> Engagement:
    """Enrol a contact that is due now."""
    told = {"next_action_at": NOW} | values
    return save_engagement(session, congregation_id, agent, address, told, now=NOW).row
