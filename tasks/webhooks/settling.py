"""Writing down what came of attempts, and only for what is still ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Outcome
from tasks.bulk import among
from tasks.failures.noting import Failure, note_deliveries
from tasks.models.delivery import Delivery, DeliveryAttempt, DeliveryState
from tasks.models.endpoint import Endpoint, EndpointEnd
from tasks.models.reason import Reason
from tasks.models.rollup import EndedKind
from tasks.rollups.ended import note_ended
from tasks.webhooks.claiming import Held
from tasks.webhooks.health import give_up, note_failure, note_success
from tasks.webhooks.judging import Verdict, judge
from tasks.webhooks.room import IS_RUNNING

_ERROR_MAX: Final = 500
_RESPONSE_MAX: Final = 2_000


class Acted(NamedTuple):
    """What came of one attempt."""

    held: Held
    outcome: Outcome


def settle(
    session: Session, acted: Sequence[Acted], *, worker: str, now: datetime
) -> dict[UUID, str]:
    """Write down what came of attempts; returns a word for each delivery.

    The fence: a delivery is settled only while it is running under the attempt that
    was made; a late writer changes nothing and gets "lost".  Caller commits.
    """
    # First the endpoints, as who switches one: then it ends what waits for it.
    endpoints = _endpoints(session, {each.held.endpoint_id for each in acted})
    rows = _locked(session, [each.held.delivery_id for each in acted])
    words: dict[UUID, str] = {}
    for held, outcome in acted:
        row = rows.get(held.delivery_id)
        if row is None or row.attempt != held.attempt:
            words[held.delivery_id] = "lost"
            continue
        endpoint = endpoints[held.endpoint_id]
        verdict = judge(
            outcome, failures=row.failures, now=now, why_no_more=_no_more(endpoint)
        )
        session.add(_attempt(row, verdict, worker, now))
        _write(row, verdict, now)
        _note(session, endpoint, row, verdict, now)
        words[held.delivery_id] = _word(row)
    session.flush()
    ours = [held for held, _ in acted if words[held.delivery_id] != "lost"]
    keys = [(held.delivery_id, held.attempt) for held in ours]
    note_ended(session, EndedKind.DELIVERY, keys)
    failed = [
        Failure(row.id, row.congregation_id, row.reason, row.error)
        for row in rows.values()
        if row.state is DeliveryState.FAILED
    ]
    note_deliveries(session, failed, now)
    return words


def _locked(session: Session, ids: Sequence[UUID]) -> Mapping[UUID, Delivery]:
    rows = session.scalars(
        select(Delivery)
        .where(among(session, Delivery.id, ids), IS_RUNNING)
        .order_by(Delivery.id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return {row.id: row for row in rows}


def _endpoints(session: Session, ids: set[UUID]) -> Mapping[UUID, Endpoint]:
    rows = session.scalars(
        select(Endpoint)
        .where(Endpoint.id.in_(ids))
        .order_by(Endpoint.id)  # one order for all, or two writers could deadlock
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return {row.id: row for row in rows}


def _no_more(endpoint: Endpoint) -> Reason | None:
    if endpoint.deleted_at is not None:
        return Reason.ENDPOINT_DELETED
    return None if endpoint.enabled else Reason.ENDPOINT_DISABLED


def _write(row: Delivery, verdict: Verdict, now: datetime) -> None:
    row.error = _cut(verdict.error, _ERROR_MAX)
    row.status_code = verdict.status_code
    if verdict.state is not DeliveryState.DELIVERED:
        row.failures += 1
    if verdict.run_at is not None:
        row.run_at = verdict.run_at
    row.move_to(verdict.state, at=now, reason=verdict.reason)


def _note(
    session: Session,
    endpoint: Endpoint,
    row: Delivery,
    verdict: Verdict,
    now: datetime,
) -> None:
    """Let the endpoint's health know, which may switch it off."""
    if verdict.state is DeliveryState.DELIVERED:
        note_success(endpoint, now)
        return
    was_enabled = endpoint.enabled
    if verdict.is_gone and was_enabled:
        give_up(session, endpoint, EndpointEnd.GONE, now)
    else:
        note_failure(session, endpoint, now)
    if was_enabled and not endpoint.enabled:  # then nothing waits any more
        session.refresh(row, ["state", "reason", "settled_at"])


def _attempt(
    row: Delivery, verdict: Verdict, worker: str, now: datetime
) -> DeliveryAttempt:
    return DeliveryAttempt(
        congregation_id=row.congregation_id,
        delivery_id=row.id,
        number=row.attempt,
        worker=worker,
        started_at=row.claimed_at or now,
        finished_at=now,
        outcome=verdict.outcome,
        status_code=verdict.status_code,
        error=_cut(verdict.error, _ERROR_MAX),
        response=_cut(verdict.response, _RESPONSE_MAX),
    )


def _word(row: Delivery) -> str:
    is_retry = row.state is DeliveryState.PENDING
    return "retried" if is_retry else row.state.value


def _cut(text: str | None, longest: int) -> str | None:
    # PostgreSQL refuses NUL in text; a receiver may well send it.
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:longest] if text else None
