"""Webhook endpoints over HTTP: who hears of what happens, and how it arrives."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from flask import current_app
from sqlalchemy import select

from dashboard.api.answer import Answer
from dashboard.api.blueprint import WEBHOOKS, answers, api
from dashboard.api.cursors import page_of
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.errors import invalid
from dashboard.api.idempotency import HEADER, requested_key
from dashboard.api.models.outreach import Paged, RemovedAnswer
from dashboard.api.models.webhooks import (
    DeliveriesAnswer,
    DeliveriesQuery,
    DeliveryAnswer,
    EndpointAnswer,
    EndpointIn,
    EndpointsAnswer,
    EndpointSecretAnswer,
    OurPath,
    RotateIn,
)
from tasks.clock import utcnow
from tasks.models import Delivery, Endpoint
from tasks.operations.audit import Actor
from tasks.secrets import SecretBox
from tasks.webhooks import endpoints
from tasks.webhooks.endpoint_fields import EndpointChange
from tasks.webhooks.finding import get_endpoint
from tasks.webhooks.replays import retry_delivery
from tasks.webhooks.rotating import rotate_secret
from tasks.webhooks.testing import send_test

#: A scope of its own: whoever may add endpoints may read all events of a congregation.
SCOPE: Final = "webhooks:manage"
_ONE: Final = answers(EndpointAnswer)


@api.get("/webhook-endpoints", tags=[WEBHOOKS], responses=answers(EndpointsAnswer))
@endpoint(SCOPE)
def list_endpoints(call: Call, query: Paged) -> Answer:
    """List endpoints, newest first."""
    living = select(Endpoint).where(Endpoint.deleted_at.is_(None))
    page = page_of(call.session, living, (Endpoint.id.desc(),), query)
    rows = [EndpointAnswer.model_validate(row) for row in page.rows]
    found = EndpointsAnswer(endpoints=rows, next_cursor=page.next_cursor)
    return Answer(found.model_dump(mode="json"))


@api.post(
    "/webhook-endpoints", tags=[WEBHOOKS], responses=answers(EndpointSecretAnswer, 201)
)
@endpoint(SCOPE)
def post_endpoint(call: Call, body: EndpointIn) -> Answer:
    """Add an endpoint; the answer tells its secret, which is not shown again."""
    _refuse_key()
    row, secret = endpoints.add_endpoint(
        call.session,
        call.congregation_id,
        _change(body, None),
        _actor(call),
        box=_box(),
        now=utcnow(),
    )
    return _with_secret(row, secret, HTTPStatus.CREATED)


@api.get("/webhook-endpoints/<id>", tags=[WEBHOOKS], responses=_ONE)
@endpoint(SCOPE)
def show_endpoint(call: Call, path: OurPath) -> Answer:
    """Show an endpoint and how it fares."""
    return _endpoint(get_endpoint(call.session, path.uuid))


@api.put("/webhook-endpoints/<id>", tags=[WEBHOOKS], responses=_ONE)
@endpoint(SCOPE)
def put_endpoint(call: Call, path: OurPath, body: EndpointIn) -> Answer:
    """Change an endpoint; what waits for it goes to the new address."""
    change = _change(body, get_endpoint(call.session, path.uuid))
    return _endpoint(
        endpoints.edit_endpoint(call.session, path.uuid, change, _actor(call), utcnow())
    )


@api.delete(
    "/webhook-endpoints/<id>", tags=[WEBHOOKS], responses=answers(RemovedAnswer)
)
@endpoint(SCOPE, empty_body=True)
def delete_endpoint(call: Call, path: OurPath) -> Answer:
    """Remove an endpoint; what was sent to it stays readable."""
    endpoints.remove(call.session, path.uuid, _actor(call), utcnow())
    return Answer(RemovedAnswer(removed=True).model_dump(mode="json"))


@api.post(
    "/webhook-endpoints/<id>/secret",
    tags=[WEBHOOKS],
    responses=answers(EndpointSecretAnswer),
)
@endpoint(SCOPE, empty_body=True)
def post_secret(call: Call, path: OurPath, body: RotateIn) -> Answer:
    """Make a new secret; the answer tells it, and it is not shown again."""
    _refuse_key()
    row, secret = rotate_secret(
        call.session,
        path.uuid,
        _actor(call),
        box=_box(),
        now=utcnow(),
        keep_former=body.keep_former,
    )
    return _with_secret(row, secret, HTTPStatus.OK)


@api.post("/webhook-endpoints/<id>/enable", tags=[WEBHOOKS], responses=_ONE)
@endpoint(SCOPE, empty_body=True)
def enable_endpoint(call: Call, path: OurPath) -> Answer:
    """Switch an endpoint on; its past failures are forgotten."""
    endpoints.enable(call.session, path.uuid, _actor(call), utcnow())
    return _endpoint(get_endpoint(call.session, path.uuid))


@api.post("/webhook-endpoints/<id>/disable", tags=[WEBHOOKS], responses=_ONE)
@endpoint(SCOPE, empty_body=True)
def disable_endpoint(call: Call, path: OurPath) -> Answer:
    """Switch an endpoint off, and end what waits for it."""
    endpoints.disable(call.session, path.uuid, _actor(call), utcnow())
    return _endpoint(get_endpoint(call.session, path.uuid))


@api.post(
    "/webhook-endpoints/<id>/test",
    tags=[WEBHOOKS],
    responses=answers(DeliveryAnswer, 202),
)
@endpoint(SCOPE, empty_body=True)
def test_endpoint(call: Call, path: OurPath) -> Answer:
    """Send an event that never happened."""
    row = send_test(call.session, path.uuid, _actor(call), utcnow())
    return _delivery(row, HTTPStatus.ACCEPTED)


@api.get("/webhook-deliveries", tags=[WEBHOOKS], responses=answers(DeliveriesAnswer))
@endpoint(SCOPE)
def list_deliveries(call: Call, query: DeliveriesQuery) -> Answer:
    """List deliveries, newest first."""
    statement = select(Delivery)
    if query.state is not None:
        statement = statement.where(Delivery.state == query.state)
    page = page_of(call.session, statement, (Delivery.id.desc(),), query)
    rows = [DeliveryAnswer.model_validate(row) for row in page.rows]
    found = DeliveriesAnswer(deliveries=rows, next_cursor=page.next_cursor)
    return Answer(found.model_dump(mode="json"))


@api.post(
    "/webhook-deliveries/<id>/retry",
    tags=[WEBHOOKS],
    responses=answers(DeliveryAnswer, 202),
)
@endpoint(SCOPE, empty_body=True)
def post_retry(call: Call, path: OurPath) -> Answer:
    """Send a delivery again, with the same id and body."""
    retry_delivery(call.session, path.uuid, _actor(call), utcnow())
    row = call.session.scalars(select(Delivery).filter_by(id=path.uuid)).one()
    return _delivery(row, HTTPStatus.ACCEPTED)


def _change(body: EndpointIn, row: Endpoint | None) -> EndpointChange:
    given = body.given()

    def said(name: str, otherwise: Any) -> Any:  # noqa: ANN401  # any of the fields
        return given.get(name, getattr(row, name) if row else otherwise)

    return EndpointChange(
        url=said("url", "") or "",
        description=said("description", "") or "",
        event_types=said("event_types", None),
        podcast_ids=said("podcast_ids", None),
    )


def _refuse_key() -> None:
    """Refuse a key: answers are kept for it, and a secret is kept nowhere in clear."""
    if requested_key() is not None:
        sentence = (
            f"{HEADER}: is not taken here, since answers with secrets are not kept."
        )
        raise invalid(
            [{"field": HEADER, "code": "idempotency_key_refused", "message": sentence}]
        )


def _actor(call: Call) -> Actor:
    return Actor(f"token:{call.caller.name}")


def _box() -> SecretBox:
    return SecretBox(current_app.config["CARILLON"].secret_key)


def _endpoint(row: Endpoint) -> Answer:
    return Answer(EndpointAnswer.model_validate(row).model_dump(mode="json"))


def _with_secret(row: Endpoint, secret: str, status: HTTPStatus) -> Answer:
    shown = EndpointAnswer.model_validate(row).model_dump(mode="json")
    return Answer({**shown, "secret": secret}, status)


def _delivery(row: Delivery, status: HTTPStatus) -> Answer:
    return Answer(DeliveryAnswer.model_validate(row).model_dump(mode="json"), status)
