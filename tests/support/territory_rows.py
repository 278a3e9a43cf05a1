"""Members, territories, attributions and campaigns for tests."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.names import folded
from tasks.models import (
    Attribution,
    Campaign,
    EmergencyContact,
    Group,
    GroupMember,
    Member,
    Territory,
)

TODAY = date(2026, 3, 10)


def member(session: Session, congregation_id: UUID, **values: Any) -> UUID:
    """Add a member and return its id."""
    defaults = {"first_name": "Noémie", "last_name": "Brandt"} | values
    name = folded(f"{defaults['last_name']} {defaults['first_name']}")
    row = Member(congregation_id=congregation_id, search_name=name, **defaults)
    session.add(row)
    session.flush()
    return row.id


def territory(session: Session, congregation_id: UUID, number: str = "1") -> UUID:
    """Add a territory and return its id."""
    row = Territory(congregation_id=congregation_id, number=number)
    session.add(row)
    session.flush()
    return row.id


def attribution(
    session: Session,
    congregation_id: UUID,
    member_id: UUID,
    territory_id: UUID,
    **values: Any,
) -> UUID:
    """Add regular work that began ten days ago and is due in a month."""
    defaults = {
        "started_on": TODAY - timedelta(days=10),
        "due_on": TODAY + timedelta(days=30),
    } | values
    row = Attribution(
        congregation_id=congregation_id,
        member_id=member_id,
        territory_id=territory_id,
        **defaults,
    )
    session.add(row)
    session.flush()
    return row.id


def campaign(session: Session, congregation_id: UUID, **values: Any) -> UUID:
    """Add a campaign of ten days that starts today."""
    defaults = {
        "name": "Spring",
        "starts_on": TODAY,
        "ends_on": TODAY + timedelta(days=9),
    } | values
    row = Campaign(congregation_id=congregation_id, **defaults)
    session.add(row)
    session.flush()
    return row.id


def office(session: Session, congregation_id: UUID, mark: str) -> dict[str, str]:
    """Add one row of each kind, with ``mark`` in its texts; returns ids by their names.

    The names are those of addresses in the console.
    """
    who = member(session, congregation_id, last_name=mark, notes=mark)
    contact = EmergencyContact(
        congregation_id=congregation_id, member_id=who, name=mark
    )
    group = Group(congregation_id=congregation_id, name=mark, responsible_id=who)
    session.add_all([contact, group])
    session.flush()
    session.add(
        GroupMember(congregation_id=congregation_id, member_id=who, group_id=group.id)
    )
    ground = territory(session, congregation_id, number=mark[:32])
    planned = campaign(
        session,
        congregation_id,
        name=mark,
        starts_on=date(2999, 1, 1),
        ends_on=date(2999, 1, 9),
    )
    work = attribution(session, congregation_id, who, ground, notes=mark)
    return {
        "member_id": str(who),
        "emergency_id": str(contact.id),
        "group_id": str(group.id),
        "territory_id": str(ground),
        "attribution_id": str(work),
        "campaign_id": str(planned),
    }
