"""Sending many deliveries again, with the same ids and bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, literal_column, or_, select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.failures.noting import note_retried
from tasks.locks import in_order
from tasks.models import Congregation, Delivery, DeliveryState, Endpoint, Operation
from tasks.models.base import born_from
from tasks.models.failure import FailedDelivery
from tasks.operations.acted import Acted
from tasks.operations.kind import Kind, Refusal
from tasks.operations.matching import as_json, from_json
from tasks.operations.replaying_executions import MOVED
from tasks.saying import mark
from tasks.search.deliveries import delivery_conditions
from tasks.webhooks.fanout import LANE, anew

_S = DeliveryState
#: Written as the partial index has it, so that it serves.
_DID_NOT_ARRIVE: Final = or_(
    *(
        Delivery.state == literal_column(f"'{state}'")
        for state in (_S.FAILED, _S.DISABLED)
    )
)
_REMOVED: Final = mark("the endpoint was removed.")
_OFF: Final = mark("the endpoint is off; switch it on first.")


@dataclass(frozen=True, slots=True)
class DeliveryMatching:
    """Which deliveries are meant; what is empty or None narrows nothing."""

    state: str = ""
    type: str = ""
    endpoint_id: UUID | None = None
    since: datetime | None = None  # made then or later
    until: datetime | None = None  # made before
    text: str = ""  # part of an error, or of the endpoint's name or address
    query: str = ""  # ``field:value`` terms, see ``tasks.search``
    group_id: UUID | None = None  # of failures with one cause

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return what must hold.

        Raises:
            InvalidInput: ``bad_search``.
        """
        simple = list(self._simple())
        return [*simple, *delivery_conditions(self.query, self.text, simple)]

    def as_json(self) -> dict[str, str]:
        """Return what is set, for the audit log."""
        return as_json(self)

    def _simple(self) -> Iterator[ColumnElement[bool]]:
        if self.state:
            yield Delivery.state == self.state
        if self.type:
            yield Delivery.type == self.type
        if self.endpoint_id is not None:
            yield Delivery.endpoint_id == self.endpoint_id
        if self.group_id is not None:
            own = select(FailedDelivery.delivery_id)
            yield Delivery.id.in_(own.where(FailedDelivery.group_id == self.group_id))
        # Ids rise with time, and the list is read by them.
        if self.since is not None:
            yield Delivery.id >= born_from(self.since)
        if self.until is not None:
            yield Delivery.id < born_from(self.until)


def retry_deliveries(
    session: Session, _operation: Operation, ids: Sequence[UUID], now: datetime
) -> Acted:
    """Let deliveries that did not arrive begin anew, where their endpoint is on."""
    on = _lock_enabled(session, ids)
    revived = session.execute(
        update(Delivery)
        .where(
            *in_order(
                session,
                Delivery,
                Delivery.id.in_(ids),
                _DID_NOT_ARRIVE,
                Delivery.endpoint_id.in_(on),
            )
        )
        .values(anew(now))
        .returning(Delivery.congregation_id, Delivery.id)
        .execution_options(synchronize_session=False)
    )
    acted = Acted(changed=[(row[0], row[1]) for row in revived])
    changed = {id_ for _, id_ in acted.changed}
    note_retried(session, FailedDelivery, changed, now)
    acted.skip([id_ for id_ in ids if id_ not in changed], MOVED)
    if changed:
        doorbell.ask(session, LANE)
    return acted


def _lock_enabled(session: Session, ids: Sequence[UUID]) -> Sequence[UUID]:
    """Return the endpoints that are on, and stay so until the transaction ends."""
    of_them = select(Delivery.endpoint_id).where(Delivery.id.in_(ids))
    return session.scalars(
        select(Endpoint.id)
        .where(Endpoint.id.in_(of_them), *_is_on())
        .order_by(Endpoint.id)
        .with_for_update(key_share=True)
    ).all()


def _is_on() -> tuple[ColumnElement[bool], ...]:
    return Endpoint.enabled.is_(True), Endpoint.deleted_at.is_(None)


def _of(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return Delivery.endpoint_id.in_(select(Endpoint.id).where(*conditions))


def _in(*states: DeliveryState) -> ColumnElement[bool]:
    """Return whether a delivery is in one of them, as its small indexes say it."""
    return or_(*(Delivery.state == literal_column(f"'{each}'") for each in states))


#: What the reasons before leave; naming it lets an index be used.
_LOST: Final = _in(_S.FAILED, _S.DISABLED)


RETRY_DELIVERIES: Final = Kind(
    Delivery,
    lambda until, _: (
        _DID_NOT_ARRIVE,
        # Their index begins with the congregation: naming all lets it be used.
        Delivery.congregation_id.in_(select(Congregation.id)),
        Delivery.settled_at <= until,
        _of(*_is_on()),
    ),
    retry_deliveries,
    lane=LANE,
    narrow=lambda _, rest: from_json(DeliveryMatching, rest).conditions(),
    refusals=(
        Refusal(
            mark("they are on their way already."),
            _in(_S.PENDING, _S.RUNNING),
        ),
        Refusal(
            mark(
                "they arrived; a span of time is told again from the endpoint’s page."
            ),
            Delivery.state == _S.DELIVERED,
        ),
        Refusal(_REMOVED, and_(_LOST, _of(Endpoint.deleted_at.is_not(None)))),
        Refusal(_OFF, and_(_LOST, _of(Endpoint.enabled.is_(False)))),
    ),
)
