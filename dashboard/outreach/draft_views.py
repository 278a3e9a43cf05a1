"""Files of contacts: uploaded, looked at, taken over or thrown away."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from dashboard.extensions import db
from dashboard.filters import plural
from dashboard.outreach import imports, queries
from dashboard.outreach.import_forms import ContactFileForm, HowForm
from dashboard.outreach.uploads import uploaded
from dashboard.outreach.views import bp
from dashboard.security import actor, require
from dashboard.web import render
from tasks.db import reading
from tasks.errors import InvalidInput, NotFound
from tasks.models import ContactDraft
from tasks.outreach import drafts
from tasks.outreach.contact_files import ContactFile
from tasks.outreach.import_rows import How
from tasks.outreach.previewing import Fate, preview
from tasks.saying import say

#: Rows of each fate that the page shows.
SHOWN_MAX: Final = 50
#: What is to be set right comes first.
_ORDER: Final = (
    Fate.WRONG,
    Fate.TWICE,
    Fate.CHANGED,
    Fate.NEW,
    Fate.LEFT,
    Fate.SAME,
)


@bp.get("/imports/new")
@require("operator")
def new_import() -> str:
    """Show the form that takes a file of contacts."""
    return _new_form(ContactFileForm())


@bp.post("/imports")
def upload() -> ResponseReturnValue:
    """Read a file and show what it holds; nothing is imported yet."""
    session, form, who = db.session(), ContactFileForm(), actor()
    # Reading may take a second, and nobody else could write to SQLite meanwhile.
    session.rollback()
    try:
        congregation_id = form.congregation
        filename, file = uploaded()
        row = drafts.upload(session, congregation_id, filename, file, who)
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _new_form(form), 422
    db.session.commit()
    return redirect(url_for(".draft", contact_draft_id=row.id), 303)


@bp.get("/drafts/<uuid:contact_draft_id>")
def draft(contact_draft_id: UUID) -> str:
    """Show what would become of each row."""
    row = drafts.get_draft(db.session(), contact_draft_id)
    return _page(row, HowForm(request.args))


@bp.post("/drafts/<uuid:contact_draft_id>")
def take_draft(contact_draft_id: UUID) -> ResponseReturnValue:
    """Take a file over; a second yes leads to what the first one did."""
    session, form, who = db.session(), HowForm(), actor()
    try:
        checked = _checked(session, contact_draft_id, form)
        made = drafts.take_draft(session, checked, who)
    except NotFound:
        done = imports.one(session, contact_draft_id)[0]
        return redirect(url_for(".import_", contact_import_id=done.id), 303)
    except InvalidInput as refused:
        session.rollback()
        reading(session)
        form.refuse(refused)
        return _page(drafts.get_draft(session, contact_draft_id), form), 422
    session.commit()
    flash(_told(made.counts), "success")
    return redirect(url_for(".import_", contact_import_id=made.id), 303)


@bp.post("/drafts/<uuid:contact_draft_id>/discard")
def discard_draft(contact_draft_id: UUID) -> ResponseReturnValue:
    """Throw a file away."""
    gone = drafts.discard_draft(db.session(), contact_draft_id)
    db.session.commit()
    flash(
        say(
            "“%(filename)s” is thrown away; nothing was imported.",
            filename=gone.filename,
        ),
        "success",
    )
    return redirect(url_for(".imports_"), 303)


def _checked(
    session: Session, contact_draft_id: UUID, form: HowForm
) -> drafts.CheckedDraft:
    """Check a file's rows while others may write.

    Raises:
        NotFound: it is gone.
        InvalidInput: the agent's address is wrong.
        Conflict: no row can be taken.
    """
    session.rollback()
    reading(session)
    row = drafts.get_draft(session, contact_draft_id)
    checked = drafts.check_draft(row, form.how(row.filename))
    session.rollback()
    return checked


def _new_form(form: ContactFileForm) -> str:
    form.offer(queries.congregations(db.session()))
    return render("outreach/import_new.html", form=form)


def _page(row: ContactDraft, form: HowForm) -> str:
    """Return the page of a file that waits; with an error nothing can be imported."""
    try:
        how = form.how(row.filename)
    except InvalidInput as refused:
        if not form.agent.errors:
            form.refuse(refused)
        how = How(form.known.data != "keep", None, row.filename)
    file = ContactFile.of_json(row.content)
    looked = preview(db.session(), row.congregation_id, file, how)
    counts = looked.counts
    return render(
        "outreach/draft.html",
        row=row,
        form=form,
        file=file,
        congregation=imports.congregation_of(db.session(), row),
        counts=[(fate, counts[fate]) for fate in _ORDER],
        shown={
            fate: [one for one in looked.rows if one.fate is fate][:SHOWN_MAX]
            for fate in _ORDER
        },
        n_written=looked.n_written,
    )


def _told(counts: dict[str, int]) -> str:
    n_new, n_changed = counts.get("created", 0), counts.get("changed", 0)
    return say(
        "%(contacts)s made known, %(n)s changed.",
        contacts=plural(n_new, "contact"),
        n=n_changed,
    )
