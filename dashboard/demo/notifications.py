"""The demo's notifications: who hears of the board, what was sent, and what waits."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from dashboard.demo.parish import SACRISTAN
from dashboard.demo.people import DOMAIN, REFUSED_ADDRESS
from dashboard.demo.timelapse import Timelapse
from tasks.congregation.names import folded
from tasks.congregation.notifications import News, notify_all
from tasks.congregation.notifications.kinds import DUTIES
from tasks.congregation.notifications.preferences import set_preferences
from tasks.db import Begin
from tasks.lanes import email
from tasks.models import (
    Account,
    AccountDuty,
    Attribution,
    Duty,
    Member,
    Territory,
    new_id,
)

#: Address -> name, language.  The second one's mailbox does not exist any more.
_ACCOUNTS: Final = (
    (SACRISTAN.name, "Ruth Kessler", None),
    (REFUSED_ADDRESS, "Luca Marchetti", None),
    (f"claire.rochat@{DOMAIN}", "Claire Rochat", "fr"),
    (f"beat.suter@{DOMAIN}", "Beat Suter", None),
)
_TERRITORIES: Final = (("K1", "Kirchplatz"), ("K2", "Am Bach"))


def make_notifications(
    begin: Begin, lapse: Timelapse, parish: UUID, now: datetime
) -> None:
    """Add accounts, mails that were sent or refused, and something that settles."""
    with begin() as session:
        ruth, _, claire, beat = _accounts(session, parish, now)
        quiet: dict[str, bool | None] = {"document.updated": False}
        set_preferences(session, beat, quiet, SACRISTAN, now)
    lapse.clock.at = now - timedelta(hours=26)
    with begin() as session:
        notify_all(session, parish, _yesterday(ruth), lapse.clock.at)
    for _ in range(4):  # some mail servers are busy for a while
        email.sweep(lapse.bench, 100)
        lapse.clock.at += timedelta(seconds=30)
    lapse.clock.at = now
    with begin() as session:
        news = _given(session, parish, claire, now.date())
        notify_all(session, parish, news, now - timedelta(minutes=2))


def _accounts(session: Session, parish: UUID, now: datetime) -> list[UUID]:
    made = [
        Account(
            id=new_id(now),
            congregation_id=parish,
            email=address,
            name=name,
            locale=locale,
            created_at=now - timedelta(days=200),
        )
        for address, name, locale in _ACCOUNTS
    ]
    duties = [
        Duty(id=new_id(now), congregation_id=parish, key=key, name=name)
        for key, name in DUTIES.items()
    ]
    session.add_all([*made, *duties])
    session.flush()
    for duty in duties:
        several = made if duty.key == "board_validator" else made[:1]
        session.add_all(
            AccountDuty(congregation_id=parish, account_id=each.id, duty_id=duty.id)
            for each in several
        )
    return [each.id for each in made]


def _yesterday(ruth: UUID) -> list[News]:
    return [
        News("document.deleted", "advent-2024", {"title": "Advent 2024"}),
        News("document.deleted", "roster-old", {"title": "Roster of readers, old"}),
        News("data_transfer.exported", "demo", account_id=ruth, actor_id=ruth),
    ]


def _given(session: Session, parish: UUID, account_id: UUID, today: date) -> list[News]:
    """Give territories to the member of an account; returns the news of it."""
    name = ("Claire", "Rochat")
    search = folded(f"{name[1]} {name[0]}")
    member = Member(
        id=new_id(),
        congregation_id=parish,
        first_name=name[0],
        last_name=name[1],
        search_name=search,
    )
    session.add(member)
    session.flush()
    session.get_one(Account, account_id).member_id = member.id
    news = []
    for number, place in _TERRITORIES:
        territory = Territory(
            id=new_id(), congregation_id=parish, number=number, name=place
        )
        session.add(territory)
        session.flush()
        given = Attribution(
            id=new_id(),
            congregation_id=parish,
            territory_id=territory.id,
            member_id=member.id,
            started_on=today,
            due_on=today + timedelta(days=120),
        )
        session.add(given)
        news.append(News("territory.given", given.id, account_id=account_id))
    session.flush()
    return news
