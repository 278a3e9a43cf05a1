"""Lists of contacts over HTTP: taken over with one result a row, and taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from dashboard.api.answer import Answer
from dashboard.api.blueprint import OUTREACH, answers, api
from dashboard.api.endpoint import Call, Reader, endpoint
from dashboard.api.models.answers import Trouble
from dashboard.api.models.contact_imports import (
    ContactRowAnswer,
    ContactsIn,
    ImportAnswer,
    ImportPath,
    ImportQuery,
    UndoneAnswer,
)
from dashboard.api.reading_contacts import ContactList, read_list
from tasks.operations.audit import Actor
from tasks.outreach.contact_files import ContactFile
from tasks.outreach.import_rows import How, Line
from tasks.outreach.importing import ImportDone, import_contacts, import_file
from tasks.outreach.undoing import undo_import

_INSTANT: Final = "next_action_at"


@api.post("/contacts/import", tags=[OUTREACH], responses=answers(ImportAnswer))
@endpoint("records:write", reader=Reader(read_list, described_by=ContactsIn))
def post_import(call: Call, query: ImportQuery, body: ContactList) -> Answer:
    """Take up to 1 000 contacts over, as JSON or as a CSV file (text/csv).

    A row that cannot be taken is told with its reason and does not hold up the others.
    With agent in the address every contact is enrolled for that agent.
    """
    how = How(query.mode == "merge", query.agent, query.filename or "")
    done = _taken(call, body.rows, how)
    told = ImportAnswer(
        import_id=done.row.id,
        counts=done.row.counts,
        results=[_row(line) for line in done.lines],
    )
    return Answer(told.model_dump(mode="json"))


@api.post(
    "/contact-imports/<id>/undo", tags=[OUTREACH], responses=answers(UndoneAnswer)
)
@endpoint("records:write", empty_body=True)
def post_undo(call: Call, path: ImportPath) -> Answer:
    """Take a list back: remove what it made and nobody has touched since."""
    actor = Actor(f"token:{call.caller.name}")
    done = undo_import(call.session, UUID(path.id), actor)
    told = UndoneAnswer(
        contacts_removed=done.n_contacts,
        engagements_removed=done.n_engagements,
        contacts_kept=done.n_kept,
    )
    return Answer(told.model_dump(mode="json"))


def _taken(
    call: Call, given: Sequence[Mapping[str, object]] | ContactFile, how: How
) -> ImportDone:
    actor = Actor(f"token:{call.caller.name}")
    session, of = call.session, call.congregation_id
    if isinstance(given, ContactFile):
        return import_file(session, of, given, how, actor)
    return import_contacts(
        session, of, [_with_instant(row) for row in given], how, actor
    )


def _with_instant(row: Any) -> dict[str, object]:  # noqa: ANN401  # JSON, or of a file
    """Read the row's instant; what is none stays text and is refused with its row."""
    given = row.get(_INSTANT)
    if not isinstance(given, str):
        return dict(row)
    try:
        return {**row, _INSTANT: datetime.fromisoformat(given.strip())}
    except ValueError:
        return dict(row)


def _row(line: Line) -> ContactRowAnswer:
    error = line.error
    return ContactRowAnswer(
        row=line.number,
        address=line.address,
        outcome=line.outcome.value,
        error=Trouble(code=error.code, message=error.message) if error else None,
    )
