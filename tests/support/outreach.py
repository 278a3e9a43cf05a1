"""Contacts and engagements for tests, made as producers make them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes.contact_due import ContactDueSweep, sweep
from tasks.models import Engagement
from tasks.outreach.engagements import save_engagement
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

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


def enrolling(make_session: sessionmaker[Session], tenant: UUID) -> Callable[..., UUID]:
    """Return a function that enrols a contact that is due, of ``tenant`` or ``of``."""

    def enrol(*args: Any, **values: Any) -> UUID:
        with make_session.begin() as session:
            of = values.pop("of", tenant)
            return engagement(session, of, *args, **values).id

    return enrol


def sweep_due(
    make_session: sessionmaker[Session], now: datetime = NOW, limit: int = 200
) -> ContactDueSweep:
    """Let the lane wake whoever is due at ``now``."""
    return sweep(bench(make_session, lambda: now, FakePost()), limit)
