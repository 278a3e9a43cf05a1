"""What an endpoint may be told to do: checked, with a sentence for each mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.automation.actions import ACTIONS
from tasks.errors import Conflict, InvalidInput
from tasks.models.endpoint import Endpoint
from tasks.operations.rule_scope import clean_scope, problem_of_scope
from tasks.outbound.urls import read_url
from tasks.saying import say
from tasks.webhooks.filters import EVENT_TYPES

DESCRIPTION_MAX: Final = 200
#: Endpoints of one congregation; every event is looked at for each of them.
ENDPOINTS_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """What somebody wants an endpoint to be."""

    url: str
    description: str = ""
    event_types: Sequence[str] | None = None  # None: all
    podcast_ids: Sequence[str] | None = None  # None: all


def checked(
    session: Session, congregation_id: UUID, change: EndpointChange
) -> dict[str, Any]:
    """Return the columns that a change makes.

    Raises:
        InvalidInput: something is wrong; ``field`` names it.
    """
    return {
        "url": _url(change.url),
        "description": _description(change.description),
        "event_types": _event_types(change.event_types),
        "podcast_ids": _podcast_ids(session, congregation_id, change.podcast_ids),
    }


def check_number(session: Session, congregation_id: UUID) -> None:
    """Refuse an endpoint too many.

    Raises:
        Conflict: the congregation has as many as it may have.
    """
    n_living = session.scalar(
        select(func.count()).where(
            Endpoint.congregation_id == congregation_id, Endpoint.deleted_at.is_(None)
        )
    )
    if (n_living or 0) >= ENDPOINTS_MAX:
        raise Conflict(
            "too_many_endpoints",
            say(
                "A congregation has at most %(max)s endpoints; remove one first.",
                max=ENDPOINTS_MAX,
            ),
            field="url",
        )


def _url(text: str) -> str:
    # The same rules as for the action "webhook", with a look at the name server.
    problems = ACTIONS["webhook"].check({"url": text.strip()}, "")
    if problems:
        raise InvalidInput("url_invalid", problems["url"], field="url")
    return read_url(text.strip()).url


def _description(text: str) -> str:
    clean = text.strip()
    if len(clean) > DESCRIPTION_MAX:
        raise InvalidInput(
            "too_long",
            say("A description has at most %(max)s characters.", max=DESCRIPTION_MAX),
            field="description",
        )
    if not clean.isprintable():
        raise InvalidInput(
            "control_chars",
            say("The description holds characters that do not print; type it anew."),
            field="description",
        )
    return clean


def _event_types(chosen: Sequence[str] | None) -> list[str] | None:
    if chosen is None:
        return None
    if not chosen:
        raise InvalidInput(
            "required",
            say("Choose at least one type of event, or all of them."),
            field="event_types",
        )
    unknown = sorted(set(chosen) - set(EVENT_TYPES))
    if unknown:
        raise InvalidInput(
            "unknown_trigger",
            say("There is no event type “%(type)s”.", type=unknown[0][:64]),
            field="event_types",
        )
    return [name for name in EVENT_TYPES if name in set(chosen)]


def _podcast_ids(
    session: Session, congregation_id: UUID, chosen: Sequence[str] | None
) -> list[str] | None:
    if problem := problem_of_scope(session, congregation_id, chosen):
        raise InvalidInput("unknown_podcast", problem, field="podcast_ids")
    return clean_scope(chosen)
