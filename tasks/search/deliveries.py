"""What a search of deliveries means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, or_, select

from tasks.models import Delivery, Endpoint, WebhookMessage
from tasks.search import conditions as mean
from tasks.search.conditions import (
    SEARCH_WINDOW,
    Condition,
    Meanings,
    conditions,
)
from tasks.search.lists import DELIVERIES
from tasks.search.parsing import Term, parse
from tasks.search.window import is_among_first


def _endpoint(term: Term) -> Condition:
    names = (Endpoint.description, Endpoint.url)
    is_meant = mean.any_contains(names, term.value)
    return Delivery.endpoint_id.in_(select(Endpoint.id).where(is_meant))


def _event(term: Term) -> Condition:
    of_event = mean.is_id(WebhookMessage.event_id)(term)
    return Delivery.message_id.in_(select(WebhookMessage.id).where(of_event))


_MEANINGS: Final = Meanings(
    {
        "state": mean.is_word(Delivery.state),
        "type": mean.equals(Delivery.type),
        "endpoint": _endpoint,
        "error": mean.contains(Delivery.error),
        "status": mean.number(Delivery.status_code),
        "reason": mean.is_word(Delivery.reason),
        "tries": mean.number(Delivery.attempt),
        "made": mean.born(Delivery.id),
        "event": _event,
        "congregation": mean.in_congregation(Delivery.congregation_id),
        "id": mean.is_id(Delivery.id),
    },
    early=frozenset({"state", "event", "made", "congregation", "id"}),
)


def delivery_conditions(
    query: str, text: str, others: Sequence[ColumnElement[bool]]
) -> list[ColumnElement[bool]]:
    """Return what a search asks of each delivery.

    Args:
        query: the search's terms.
        text: part of an error, or of the endpoint's name or address.
        others: what else must hold; the window is taken from what they leave.

    Raises:
        InvalidInput: ``bad_search``.
    """
    found = conditions(parse(query, DELIVERIES), _MEANINGS)
    if text:
        term = Term("error", text)
        found.late.append(or_(_MEANINGS.of["error"](term), _endpoint(term)))
    if not found.late:
        return found.early
    newest = (
        select(Delivery.id)
        .where(*others, *found.early)
        .order_by(Delivery.id.desc())
        .limit(SEARCH_WINDOW)
    )
    return [is_among_first(Delivery.id, newest), *found.late]
