"""The clock of who is looking: every time on every page is told by it."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from flask import Flask, g, has_request_context
from flask_login import current_user

from tasks.automation.zones import first_zone

_UTC: Final = ZoneInfo("UTC")


def own_zone() -> ZoneInfo:
    """Return the operator's timezone; UTC where nobody is logged in, or chose none."""
    if not has_request_context():
        return _UTC
    if "own_zone" not in g:
        chosen = current_user.timezone if current_user.is_authenticated else None
        g.own_zone = ZoneInfo(first_zone(chosen))
    zone: ZoneInfo = g.own_zone
    return zone


def here(moment: datetime) -> datetime:
    """Return an instant as the operator's clock shows it."""
    return moment.astimezone(own_zone())


def zone_sign(moment: datetime) -> str:
    """Return what stands behind a time of the operator's: ``CET``, ``UTC+03``."""
    return sign_of(here(moment))


def sign_of(moment: datetime) -> str:
    """Return the sign of an instant's own zone, in the same way."""
    sign = moment.tzname() or ""
    return f"UTC{sign}" if sign[:1] in {"+", "-"} else sign


def init_app(app: Flask) -> None:
    """Let templates tell times by the operator's clock."""
    app.jinja_env.filters["here"] = here
    app.jinja_env.globals["own_zone"] = own_zone
