"""The demo's records: a parish, its podcasts and guests, its rules and operators."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.demo.people import DOMAIN, GUESTS, LOGIN, PASSWORD, SHOWS
from dashboard.demo.rules import rule_changes
from dashboard.operators.accounts import create_operator
from dashboard.operators.models import Operator, RoleName
from tasks.automation import episodes, podcasts
from tasks.errors import ConfigError
from tasks.models import Congregation, Rule
from tasks.operations.audit import Actor
from tasks.operations.congregations import CongregationChange, create_congregation
from tasks.operations.rules import create_rule
from tasks.secrets import SecretBox

SLUG: Final = "st-bonifatius"
TIMEZONE: Final = "Europe/Zurich"
#: Who did what operators do in the demo's past.
SACRISTAN: Final = Actor(f"ruth.kessler@{DOMAIN}", "192.0.2.17")


def is_loaded(session: Session) -> bool:
    """Whether the demo is in this database, complete.

    Raises:
        ConfigError: the database has other congregations, or half of the demo.
    """
    slugs = set(session.scalars(select(Congregation.slug)))
    if slugs - {SLUG}:
        raise ConfigError(
            "DATABASE_URL (or VAR_DIR) names a database with congregations of its own; "
            "the demo wants one for itself."
        )
    has_login = session.scalar(select(Operator.id).where(Operator.email == LOGIN))
    if slugs and not has_login:
        raise ConfigError(
            "VAR_DIR has a demo that was interrupted while it was made; delete that "
            "folder and start again."
        )
    return bool(slugs)


def make_parish(session: Session, box: SecretBox, port: int, now: datetime) -> UUID:
    """Add everything but the history; returns the congregation's id."""
    change = CongregationChange(SLUG, "St. Bonifatius, Kirchplatz", "en", TIMEZONE)
    parish = create_congregation(session, change, SACRISTAN).id
    for show in SHOWS:
        podcasts.save_podcast(
            session,
            parish,
            show.id,
            title=show.title,
            slug=show.id,
            timezone=TIMEZONE,
            host_name=show.host_name,
            host_email=show.host_email,
            now=now,
        )
        for link_id, name in show.links:
            podcasts.save_booking_link(
                session, parish, link_id, podcast_id=show.id, name=name, now=now
            )
    for number, guest in enumerate(GUESTS):
        episodes.save_guest(
            session,
            parish,
            guest.id,
            podcast_id=SHOWS[number % len(SHOWS)].id,
            name=guest.name,
            email=guest.email,
        )
    for rule in rule_changes(port):
        create_rule(session, parish, rule, SACRISTAN, box, now=now)
    return parish


def make_operators(session: Session) -> None:
    """Add those who log in; last, since their presence says that all is there."""
    create_operator(
        session,
        SACRISTAN.name,
        None,
        RoleName.OPERATOR,
        name="Ruth Kessler",
        actor=SACRISTAN,
    )
    create_operator(
        session, LOGIN, PASSWORD, RoleName.ADMIN, name="Demo", actor=SACRISTAN
    )


def point_hooks_to(session: Session, port: int) -> None:
    """Let the webhooks go to where the demo's receiver listens this time."""
    for rule in session.scalars(select(Rule).where(Rule.action == "webhook")):
        path = str(rule.settings["url"]).rpartition("/")[2]
        url = f"http://127.0.0.1:{port}/{path}"
        if rule.settings["url"] != url:
            rule.settings = {**rule.settings, "url": url}
