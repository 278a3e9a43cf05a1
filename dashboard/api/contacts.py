"""Contacts over HTTP: whom a congregation's agents may write to."""

from __future__ import annotations

from http import HTTPStatus

from sqlalchemy import select

from dashboard.api.answer import Answer
from dashboard.api.blueprint import OUTREACH, answers, api
from dashboard.api.cursors import page_of
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.models.outreach import (
    AddressPath,
    ContactAnswer,
    ContactIn,
    ContactsAnswer,
    Paged,
    RemovedAnswer,
)
from dashboard.api.preconditions import etag, expected_version, preconditions
from tasks.models import Contact
from tasks.outreach.contacts import remove_contact, save_contact, unknown_contact


@api.get("/contacts", tags=[OUTREACH], responses=answers(ContactsAnswer))
@endpoint("records:read")
def list_contacts(call: Call, query: Paged) -> Answer:
    """List contacts, newest first."""
    page = page_of(call.session, select(Contact), (Contact.id.desc(),), query)
    found = ContactsAnswer(
        contacts=[ContactAnswer.model_validate(row) for row in page.rows],
        next_cursor=page.next_cursor,
    )
    return Answer(found.model_dump(mode="json"))


@api.get("/contacts/<address>", tags=[OUTREACH], responses=answers(ContactAnswer))
@endpoint("records:read")
def get_contact(call: Call, path: AddressPath) -> Answer:
    """Show a contact."""
    row = call.session.scalars(
        select(Contact).filter_by(
            congregation_id=call.congregation_id, address=path.address
        )
    ).one_or_none()
    if row is None:
        raise unknown_contact()
    return _answer(row)


@api.put(
    "/contacts/<address>",
    tags=[OUTREACH],
    responses=answers(ContactAnswer, 200, 201),
)
@endpoint("records:write")
def put_contact(call: Call, path: AddressPath, body: ContactIn) -> Answer:
    """Create or change a contact."""
    with preconditions():
        saved = save_contact(
            call.session,
            call.congregation_id,
            path.address,
            body.given(),
            expected=expected_version(),
        )
    status = HTTPStatus.CREATED if saved.created else HTTPStatus.OK
    return _answer(saved.row, status)


@api.delete("/contacts/<address>", tags=[OUTREACH], responses=answers(RemovedAnswer))
@endpoint("records:write", empty_body=True)
def delete_contact(call: Call, path: AddressPath) -> Answer:
    """Remove a contact and its engagements; suppressions of the address stay."""
    with preconditions():
        remove_contact(
            call.session,
            call.congregation_id,
            path.address,
            expected=expected_version(),
        )
    return Answer(RemovedAnswer(removed=True).model_dump(mode="json"))


def _answer(row: Contact, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    told = ContactAnswer.model_validate(row).model_dump(mode="json")
    return Answer(told, status, etag(row.version))
