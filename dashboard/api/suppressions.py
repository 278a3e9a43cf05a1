"""Suppressions over HTTP: whom a congregation, or one agent, does not write to."""

from __future__ import annotations

from http import HTTPStatus

from sqlalchemy import Select, select

from dashboard.api.answer import Answer
from dashboard.api.blueprint import OUTREACH, answers, api
from dashboard.api.cursors import page_of
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.models.caps import (
    ForAgent,
    LiftQuery,
    SuppressionAnswer,
    SuppressionIn,
    SuppressionsAnswer,
    SuppressionsQuery,
)
from dashboard.api.models.outreach import AddressPath, RemovedAnswer
from tasks.errors import Conflict
from tasks.models import Suppression, SuppressionReason
from tasks.operations import suppressions as engine
from tasks.operations.audit import Actor

_ONE = "/suppressions/<address>"


@api.get("/suppressions", tags=[OUTREACH], responses=answers(SuppressionsAnswer))
@endpoint("records:read")
def list_suppressions(call: Call, query: SuppressionsQuery) -> Answer:
    """List who gets no mails, newest first."""
    page = page_of(call.session, _wanted(query), (Suppression.id.desc(),), query)
    found = SuppressionsAnswer(
        suppressions=[_told(row) for row in page.rows], next_cursor=page.next_cursor
    )
    return Answer(found.model_dump(mode="json"))


@api.get(_ONE, tags=[OUTREACH], responses=answers(SuppressionAnswer))
@endpoint("records:read")
def get_suppression(call: Call, path: AddressPath, query: ForAgent) -> Answer:
    """Show why an address gets no mails."""
    return _answer(_standing(call, path, query))


@api.put(_ONE, tags=[OUTREACH], responses=answers(SuppressionAnswer, 200, 201))
@endpoint("records:write", empty_body=True)
def put_suppression(
    call: Call, path: AddressPath, query: ForAgent, body: SuppressionIn
) -> Answer:
    """Write to an address no more, and wake nobody for it.

    One that stands already stays as it is; only who unsubscribed from some mails can
    be stopped for all.
    """
    agent, reason = query.agent or "", SuppressionReason(body.reason)
    before = engine.find(call.session, call.congregation_id, path.address, agent)
    if before is not None and not engine.goes_further(before, reason):
        return _answer(before)
    row = engine.suppress(
        call.session,
        call.congregation_id,
        path.address,
        reason,
        _actor(call),
        agent=agent,
        note=body.note,
    )
    return _answer(row, HTTPStatus.CREATED if before is None else HTTPStatus.OK)


@api.delete(_ONE, tags=[OUTREACH], responses=answers(RemovedAnswer))
@endpoint("records:write", empty_body=True)
def delete_suppression(call: Call, path: AddressPath, query: LiftQuery) -> Answer:
    """Write to an address again; what came due meanwhile wakes nobody any more."""
    row = _standing(call, path, query)
    if row.created_by == engine.RECIPIENT.name and not query.consent:
        raise Conflict(
            "recipient_unsubscribed",
            "The recipient unsubscribed by the link in a mail; send consent=true when "
            "they have asked for mails again.",
            field="consent",
        )
    engine.lift(call.session, row.id, _actor(call))
    return Answer(RemovedAnswer(removed=True).model_dump(mode="json"))


def _wanted(query: SuppressionsQuery) -> Select[Suppression]:
    statement = select(Suppression)
    if query.address is not None:
        statement = statement.where(Suppression.address == query.address)
    if query.agent is not None:
        statement = statement.where(Suppression.agent == query.agent)
    if query.everybody is not None:
        is_all = Suppression.agent == ""
        statement = statement.where(is_all if query.everybody else ~is_all)
    if query.reason is not None:
        reason = SuppressionReason(query.reason)
        statement = statement.where(Suppression.reason == reason)
    return statement


def _standing(call: Call, path: AddressPath, query: ForAgent) -> Suppression:
    of, agent = call.congregation_id, query.agent or ""
    row = engine.find(call.session, of, path.address, agent)
    if row is None:
        raise engine.unknown_suppression()
    return row


def _told(row: Suppression) -> SuppressionAnswer:
    names = SuppressionAnswer.model_fields.keys()
    values = {name: getattr(row, name) for name in names}
    return SuppressionAnswer.model_validate(values | {"agent": row.agent or None})


def _answer(row: Suppression, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer(_told(row).model_dump(mode="json"), status)


def _actor(call: Call) -> Actor:
    return Actor(f"token:{call.caller.name}")
