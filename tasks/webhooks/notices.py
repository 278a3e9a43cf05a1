"""What is told of an endpoint: that it fails, and that it was switched off by itself.

Admins get a mail, and rules and the other endpoints an event.  Both are written in the
transaction that notes it, so nothing is told that did not happen.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from tasks.automation.own import Happening, report
from tasks.models.base import Json
from tasks.models.congregation import Congregation
from tasks.models.endpoint import Endpoint, EndpointEnd
from tasks.operations.admin_mails import Telling, Words, mail_admins
from tasks.saying import mark, say
from tasks.saying.formats import dated

_NAME_MAX: Final = 80  # characters
_WHY: Final = {
    EndpointEnd.GONE: mark("It answered 410, which says that it is gone for good."),
    EndpointEnd.FAILING: mark("It failed for a day without a single good answer."),
}


def warn(session: Session, endpoint: Endpoint, off_at: datetime, now: datetime) -> None:
    """Tell the admins that an endpoint is going to be switched off."""
    since = endpoint.failing_since or now
    name, of = _called(endpoint), _congregation(session, endpoint)

    def words() -> Words:
        failing = say(
            "The webhook endpoint “%(name)s” of %(congregation)s has not answered well "
            "since %(since)s: %(n)s failures in a row, by now.",
            name=name,
            congregation=of,
            since=_written(since),
            n=endpoint.failures,
        )
        ahead = say(
            "If that goes on, it is switched off at %(at)s or soon after. One good "
            "answer before that and all is forgiven; what could not be delivered is "
            "being tried again by itself.",
            at=_written(off_at),
        )
        subject = say("Webhook endpoint “%(name)s” is failing", name=name)
        return Words(subject, f"{failing}\n\n{ahead}")

    _tell(session, endpoint, "warned", words, now)
    _report(session, endpoint, "warned", {"off_at": _iso(off_at)}, now)


def tell_off(
    session: Session, endpoint: Endpoint, why: EndpointEnd, now: datetime
) -> None:
    """Tell the admins that an endpoint was switched off by itself."""
    name, of = _called(endpoint), _congregation(session, endpoint)

    def words() -> Words:
        done = say(
            "The webhook endpoint “%(name)s” of %(congregation)s was switched off at "
            "%(at)s.",
            name=name,
            congregation=of,
            at=_written(now),
        )
        ahead = say(
            "It hears of nothing until somebody switches it on again. Its page offers "
            "to send again what failed, and what happened while it was off."
        )
        subject = say("Webhook endpoint “%(name)s” was switched off", name=name)
        return Words(subject, f"{done} {say(_WHY[why])}\n\n{ahead}")

    _tell(session, endpoint, "disabled", words, now)
    _report(session, endpoint, "disabled", {"reason": _WHY[why]}, now)


def _tell(
    session: Session,
    endpoint: Endpoint,
    what: str,
    words: Callable[[], Words],
    now: datetime,
) -> None:
    key = f"endpoint.{what}:{endpoint.id}:{now.isoformat()}"
    telling = Telling(key, f"/webhooks/{endpoint.id}", words)
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


def _congregation(session: Session, endpoint: Endpoint) -> str:
    return session.get_one(Congregation, endpoint.congregation_id).name


def _written(instant: datetime) -> str:
    return f"{dated(instant.astimezone(UTC), 'EEE d MMM y, HH:mm')} UTC"
