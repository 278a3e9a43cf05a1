"""What is told of an endpoint: that it fails, and that it was switched off by itself.

Admins get a mail, and rules and the other endpoints an event.  Both are written in the
transaction that notes it, so nothing is told that did not happen.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from tasks.automation.own import Happening, report
from tasks.models.base import Json
from tasks.models.congregation import Congregation
from tasks.models.endpoint import Endpoint, EndpointEnd
from tasks.operations.admin_mails import Telling, mail_admins

_NAME_MAX: Final = 80  # characters
_WHY: Final = {
    EndpointEnd.GONE: "It answered 410, which says that it is gone for good.",
    EndpointEnd.FAILING: "It failed for a day without a single good answer.",
}


def warn(session: Session, endpoint: Endpoint, off_at: datetime, now: datetime) -> None:
    """Tell the admins that an endpoint is going to be switched off."""
    since = endpoint.failing_since or now
    name, where = _called(endpoint), _where(session, endpoint)
    body = (
        f"The webhook endpoint “{name}” {where} has not answered well since "
        f"{_written(since)}: {endpoint.failures} failures in a row, by now.\n\n"
        f"If that goes on, it is switched off at {_written(off_at)} or soon after. "
        "One good answer before that and all is forgiven; what could not be delivered "
        "is being tried again by itself."
    )
    subject = f"Webhook endpoint “{name}” is failing"
    _tell(session, endpoint, "warned", subject, body, now)
    _report(session, endpoint, "warned", {"off_at": _iso(off_at)}, now)


def tell_off(
    session: Session, endpoint: Endpoint, why: EndpointEnd, now: datetime
) -> None:
    """Tell the admins that an endpoint was switched off by itself."""
    name, where = _called(endpoint), _where(session, endpoint)
    body = (
        f"The webhook endpoint “{name}” {where} was switched off at {_written(now)}. "
        f"{_WHY[why]}\n\n"
        "It hears of nothing until somebody switches it on again. Its page offers to "
        "send again what failed, and what happened while it was off."
    )
    subject = f"Webhook endpoint “{name}” was switched off"
    _tell(session, endpoint, "disabled", subject, body, now)
    _report(session, endpoint, "disabled", {"reason": _WHY[why]}, now)


def _tell(
    session: Session,
    endpoint: Endpoint,
    what: str,
    subject: str,
    body: str,
    now: datetime,
) -> None:
    key = f"endpoint.{what}:{endpoint.id}:{now.isoformat()}"
    telling = Telling(key, subject, body, f"/webhooks/{endpoint.id}")
    mail_admins(session, endpoint.congregation_id, telling, now)


def _report(
    session: Session, endpoint: Endpoint, what: str, told: Json, now: datetime
) -> None:
    since = endpoint.failing_since
    facts: Json = {
        "id": str(endpoint.id),
        "name": _called(endpoint),
        "failures": endpoint.failures,
        "failing_since": _iso(since) if since else None,
    }
    happening = Happening(
        f"endpoint.{what}",
        endpoint.congregation_id,
        endpoint.id,
        {"endpoint": facts | told},
        occurrence=_iso(now),
    )
    report(session, [happening], now)


def _iso(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat()


def _called(endpoint: Endpoint) -> str:
    # The whole address may hold a key, and a mail goes through many hands.
    name = endpoint.description or urlsplit(endpoint.url).hostname or endpoint.url
    return name[:_NAME_MAX]


def _where(session: Session, endpoint: Endpoint) -> str:
    congregation = session.get_one(Congregation, endpoint.congregation_id)
    return f"of {congregation.name}"


def _written(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"
