"""Lists of guests: uploaded, looked at, taken over or thrown away."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filters import plural
from dashboard.security import actor
from dashboard.sources import queries
from dashboard.sources.forms import GuestFileForm, TakeGuestsForm
from dashboard.sources.places import podcast_choices
from dashboard.sources.views import bp
from dashboard.web import render
from tasks.errors import InvalidInput
from tasks.models import GuestImport
from tasks.operations import guest_imports
from tasks.operations.guest_imports import Imported
from tasks.saying import say
from tasks.sources.guest_tables import GuestTable
from tasks.sources.guests import LineOutcome
from tasks.sources.guests_csv import BYTES_MAX

#: Rows of a list that a page shows; refused ones come first.
LINES_SHOWN: Final = 200
#: Bytes of an upload: the file and what a form wraps around it.  A larger one is read
#: that far and then refused in words, not by a bare error page.
_UPLOAD_MAX: Final = BYTES_MAX * 2
_UPLOADS: Final = frozenset({"sources.upload"})


@bp.url_value_preprocessor
def _allow_uploads(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    # Before anything reads the form, and that is the check of its token.
    if endpoint in _UPLOADS:
        request.max_content_length = _UPLOAD_MAX


@bp.get("/guests/new")
def new_guests() -> str:
    """Show the form that takes a list of guests."""
    return _new_form(GuestFileForm())


@bp.post("/guests")
def upload() -> ResponseReturnValue:
    """Read a list and show what it holds; nothing is imported yet."""
    form = GuestFileForm()
    try:
        filename, data = _file()
        congregation_id, podcast_id = form.podcast
        row = guest_imports.upload_guests(
            db.session(),
            congregation_id,
            podcast_id,
            filename,
            data,
            actor(),
        )
    except InvalidInput as refused:
        form.refuse(refused)
        return _new_form(form), 422
    db.session.commit()
    return redirect(url_for(".guests", import_id=row.id), 303)


@bp.get("/guests/<uuid:import_id>")
def guests(import_id: UUID) -> str:
    """Show what would become of each row."""
    row = guest_imports.get_guest_import(db.session(), import_id)
    form = TakeGuestsForm(request.args)
    looked = guest_imports.look_at_guests(db.session(), row, merge=form.merge)
    return _page(row, looked, form=form)


@bp.post("/guests/<uuid:import_id>")
def take_guests(import_id: UUID) -> str:
    """Take a list over and show what became of each row."""
    row = guest_imports.get_guest_import(db.session(), import_id)
    form = TakeGuestsForm()
    done = guest_imports.take_guests(db.session(), import_id, actor(), merge=form.merge)
    page = _page(row, done, form=None)
    db.session.commit()
    return page


@bp.post("/guests/<uuid:import_id>/discard")
def discard_guests(import_id: UUID) -> ResponseReturnValue:
    """Throw a list away."""
    gone = guest_imports.discard_guests(db.session(), import_id)
    db.session.commit()
    flash(
        say(
            "“%(filename)s” is thrown away; nothing was imported.",
            filename=gone.filename,
        ),
        "success",
    )
    return redirect(url_for(".index"), 303)


def _file() -> tuple[str, bytes]:
    """Return the name and the content of the upload.

    Raises:
        InvalidInput: there is none.
    """
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InvalidInput("required", say("Choose a file."), field="file")
    with file.stream as stream:  # a large one is a file on the disk
        return file.filename, stream.read(BYTES_MAX + 1)


def _new_form(form: GuestFileForm) -> str:
    form.offer(podcast_choices(db.session()))
    return render("sources/guests_new.html", form=form)


def _page(row: GuestImport, looked: Imported, *, form: TakeGuestsForm | None) -> str:
    """Return the page of a list; without a form it has been taken over."""
    podcast, congregation = queries.place_of(db.session(), row)
    lines = sorted(
        looked.lines, key=lambda line: line.outcome is not LineOutcome.REFUSED
    )
    return render(
        "sources/guests.html",
        row=row,
        form=form,
        podcast=podcast,
        congregation=congregation,
        columns=GuestTable.of_json(row.content).columns,
        lines=lines[:LINES_SHOWN],
        n_lines=len(lines),
        counts=[(word, looked.counts.get(word, 0)) for word in LineOutcome],
        n_going=plural(
            looked.counts.get(LineOutcome.NEW, 0)
            + looked.counts.get(LineOutcome.CHANGED, 0),
            "guest",
        ),
    )
