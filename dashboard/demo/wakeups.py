"""The demo's outreach: two agents, whom they write to, and when they look again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from dashboard.demo.parish import SACRISTAN
from dashboard.demo.people import DOMAIN
from tasks.models import Direction, SuppressionReason
from tasks.operations.suppressions import suppress
from tasks.outreach import deeds
from tasks.outreach.contacts import save_contact
from tasks.outreach.drafts import check_draft, take_draft, upload
from tasks.outreach.engagements import save_engagement
from tasks.outreach.import_rows import How
from tasks.outreach.looking import get_engagement
from tasks.outreach.messages import Mail, note_message
from tasks.outreach.reading_csv import read_csv

_INVITES: Final = f"invitations@{DOMAIN}"
_THANKS: Final = f"thanks@{DOMAIN}"
_CHOIR: Final = "leitung@kinderchor.example"


@dataclass(frozen=True, slots=True)
class _Relation:
    """One engagement, as its agent left it."""

    agent: str
    address: str
    name: str
    stage: str
    hours: float | None  # from now to the next action; None: there is none
    n_sent: int = 0
    replied: bool = False


_RELATIONS: Final = (
    _Relation(
        _INVITES, "amelie@buchhandlung.example", "Amélie Keller", "invited", 20, 1
    ),
    _Relation(_INVITES, "s.oduya@hospiz.example", "Simon Oduya", "second mail", -2, 2),
    _Relation(
        _INVITES, "m.gerber@imkerei.example", "Marta Gerber", "in talks", 71, 1, True
    ),
    _Relation(_INVITES, _CHOIR, "Kinderchor", "invited", -5, 1),
    _Relation(_INVITES, "p.favre@phare.example", "Pascal Favre", "to be written to", 3),
    _Relation(
        _THANKS, "nour@tisch-fuer-alle.example", "Nour Haddad", "thanked", None, 1
    ),
    _Relation(_THANKS, "linh@zweiraeder.example", "Linh Nguyễn", "thanked", -26, 1),
)
_LIST: Final = """E-mail;Name
redaktion@quartierblatt.example;Quartierblatt
info@bergchor.example;Bergchor
unbekannt;Herr Unbekannt
"""
#: It waits for somebody's yes: new, changed, known, twice and wrong.
_WAITING: Final = """Name,E-mail,Town
Chœur du Lac,choeur@lac.example,Thun
Bergchor Oberland,info@bergchor.example,Brienz
Quartierblatt,redaktion@quartierblatt.example,Bern
Chœur du Lac,Choeur@lac.example,Spiez
Frau Imhof,imhof at example,Bern
"""


def make_outreach(session: Session, parish: UUID, now: datetime) -> None:
    """Add agents with their engagements; what is due is announced by the lane."""
    for number, relation in enumerate(_RELATIONS):
        _engage(session, parish, relation, now - timedelta(days=9 - number))
        _write(session, parish, relation, now)
        _schedule(session, parish, relation, now)
    asked = SuppressionReason.ASKED
    suppress(session, parish, _CHOIR, asked, SACRISTAN, note="by phone", now=now)
    _import(session, parish, now)


def _import(session: Session, parish: UUID, now: datetime) -> None:
    """Import one file, and leave another one waiting."""
    file = read_csv(_LIST.encode())
    taken = upload(session, parish, "neighbours.csv", file, SACRISTAN, now=now)
    how = How(agent=_INVITES, filename=taken.filename)
    take_draft(session, check_draft(taken, how), SACRISTAN, now=now)
    file = read_csv(_WAITING.encode())
    upload(session, parish, "choirs.csv", file, SACRISTAN, now=now)


def _engage(session: Session, parish: UUID, one: _Relation, at: datetime) -> None:
    save_contact(session, parish, one.address, {"display_name": one.name}, now=at)
    values = {"stage": one.stage, "stop_on_reply": one.agent == _INVITES}
    save_engagement(session, parish, one.agent, one.address, values, now=at)


def _write(session: Session, parish: UUID, one: _Relation, now: datetime) -> None:
    name = one.address.partition("@")[0]
    for number in range(one.n_sent):
        at = now - timedelta(days=2 * (one.n_sent - number), hours=3)
        sent = Mail(Direction.OUTBOUND, f"{name}-{number}", at, f"conversation-{name}")
        note_message(session, parish, one.agent, one.address, sent, now=at)
    if one.replied:
        at = now - timedelta(hours=7)
        answer = Mail(Direction.INBOUND, f"{name}-answer", at, f"conversation-{name}")
        note_message(session, parish, one.agent, one.address, answer, now=at)


def _schedule(session: Session, parish: UUID, one: _Relation, now: datetime) -> None:
    if one.hours is None:
        return
    values = {"next_action_at": now + timedelta(hours=one.hours)}
    row = save_engagement(session, parish, one.agent, one.address, values, now=now).row
    if one.stage == "in talks":  # the sacristan takes over
        deeds.pause(session, get_engagement(session, row.id), SACRISTAN, now)
