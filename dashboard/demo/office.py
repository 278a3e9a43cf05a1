"""The demo's members, groups and territories, and three campaigns of its year."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from dashboard.demo.parish import SACRISTAN
from dashboard.demo.people import DOMAIN
from tasks.congregation.campaigns.drafts import CampaignDraft
from tasks.congregation.campaigns.saving import create_campaign
from tasks.congregation.campaigns.transitions import move
from tasks.congregation.people import contacts, enrolling, groups, members
from tasks.congregation.people.groups import GroupDraft
from tasks.congregation.people.members import MemberDraft
from tasks.congregation.territories.attributions import give_back
from tasks.congregation.territories.giving import Gift, give
from tasks.congregation.territories.territories import TerritoryDraft, create_territory
from tasks.db import Begin
from tasks.models import StartAction

_DAY: Final = timedelta(days=1)
_MEMBERS: Final = (
    ("Élodie", "Aebischer"),
    ("Markus", "Brunner"),
    ("Noémie", "Chappuis"),
    ("Peter", "Dubach"),
    ("Sabine", "Egger"),
    ("Thomas", "Frei"),
    ("Verena", "Gasser"),
    ("Yves", "Hofmann"),
    ("Zoé", "Jaquet"),
    ("Lukas", "Keller"),
)
#: Group -> who is responsible, who stands in, by their places above.
_GROUPS: Final = (("Altstadt", 0, 1), ("Bahnhof", 4, 5), ("Seefeld", 7, None))
_TERRITORIES: Final = (
    ("1", "Altstadt north", "door_to_door"),
    ("2", "Altstadt south", "door_to_door"),
    ("3", "Bahnhofstrasse", "shops"),
    ("4", "Campus", "campus"),
    ("5", "Seefeld", "door_to_door"),
    ("6", "Hotels by the lake", "hotel"),
    ("7", "Wiesenweg", "door_to_door"),
    ("10", "Hard to reach", "phone"),
)
#: Territory, member, how many days ago it was given, how many days it was for.
_GIVEN: Final = (
    (0, 2, 100, 120),
    (1, 3, 150, 120),
    (2, 5, 20, 90),
    (4, 8, 20, 120),
    (5, 9, 140, 120),  # overdue
)


def make_office(begin: Begin, parish: UUID, now: datetime) -> None:
    """Add them as the past had them, one after the other."""
    with begin() as session:
        people = _people(session, parish, now)
        grounds = [
            create_territory(
                session, parish, TerritoryDraft(number, name, kind), SACRISTAN
            ).id
            for number, name, kind in _TERRITORIES
        ]
        _lent(session, parish, now)
        for ground, who, ago, days in _GIVEN:
            _give(session, grounds[ground], people[who], now - ago * _DAY, days)
        lately = _give(session, grounds[6], people[6], now - 30 * _DAY, 60)
        give_back(session, lately, (now - 3 * _DAY).date(), SACRISTAN, now)
        _spring(session, parish, now, frozenset(grounds[:4]))


def _people(session: Session, parish: UUID, now: datetime) -> list[UUID]:
    people: list[UUID] = []
    for first, last in _MEMBERS:
        address = f"member{len(people) + 1}@{DOMAIN}"
        draft = MemberDraft(first, last, email=address, phone="+41 44 000 00 00")
        row = members.create_member(session, parish, draft, SACRISTAN, now)
        people.append(row.id)
    contacts.add_contact(
        session,
        people[0],
        name="Paul Aebischer",
        phone="+41 44 000 00 01",
        relation="Brother",
        actor=SACRISTAN,
    )
    contacts.give_consent(session, people[0], "email", SACRISTAN, now)
    for number, (name, head, deputy) in enumerate(_GROUPS):
        stands_in = None if deputy is None else people[deputy]
        group_draft = GroupDraft(name, people[head], stands_in)
        row_id = groups.create_group(session, parish, group_draft, SACRISTAN).id
        for who in people[2 + 3 * number : 4 + 3 * number]:
            if who not in (people[head], stands_in):
                enrolling.add_member(session, row_id, who, SACRISTAN)
    return people


def _lent(session: Session, parish: UUID, now: datetime) -> None:
    """Play a campaign that has been over for months."""
    began = now - 200 * _DAY
    draft = CampaignDraft(
        "Lent",
        began.date(),
        (began + 13 * _DAY).date(),
        start_action=StartAction.LEAVE,
    )
    create_campaign(session, parish, draft, SACRISTAN, began)
    move(session, parish, began + 14 * _DAY)


def _spring(
    session: Session, parish: UUID, now: datetime, scope: frozenset[UUID]
) -> None:
    """Start a campaign three days ago, and plan another one."""
    began = now - 3 * _DAY
    draft = CampaignDraft(
        "Invitation week",
        began.date(),
        (now + 6 * _DAY).date(),
        reassigns=True,
        rest_days=3,
        territory_ids=scope,
    )
    create_campaign(session, parish, draft, SACRISTAN, began)
    later = now + 60 * _DAY
    planned = CampaignDraft("Summer letters", later.date(), (later + 20 * _DAY).date())
    create_campaign(session, parish, planned, SACRISTAN, now)


def _give(session: Session, ground: UUID, who: UUID, at: datetime, days: int) -> UUID:
    gift = Gift(who, at.date(), (at + days * _DAY).date(), despite_rest=True)
    return give(session, ground, gift, SACRISTAN, at).id
