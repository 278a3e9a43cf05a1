"""The clock of who is looking: every time on every page is told by it."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from flask import Flask, g, has_request_context
from flask_login import current_user

from tasks.automation.zones import first_zone
from tasks.saying.formats import sign_of

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


def init_app(app: Flask) -> None:
    """Let templates tell times by the operator's clock."""
    app.jinja_env.filters["here"] = here
    app.jinja_env.globals["own_zone"] = own_zone
