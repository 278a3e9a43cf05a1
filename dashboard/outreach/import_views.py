"""Lists that were imported: all of them, one of them, and taking one back."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.filters import plural
from dashboard.outreach import imports
from dashboard.outreach.filters import ImportFilter
from dashboard.outreach.views import bp
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.web import render
from tasks.clock import utcnow
from tasks.lanes.janitor import KEEP_LINES
from tasks.outreach.drafts import lines_of
from tasks.outreach.previewing import Fate
from tasks.outreach.undoing import undo_import
from tasks.saying import say


@bp.get("/imports")
@explains("contact-imports")
def imports_() -> str:
    """List the files that wait, and the lists that were imported."""
    form = ImportFilter.read(request.args)
    limit = current_app.config["CARILLON"].page_size
    wanted, cursor = form.conditions(utcnow()), request.args.get("cursor")
    page = imports.listed(db.session(), wanted, cursor, limit)
    waiting = imports.waiting(db.session())
    return render("outreach/imports.html", page=page, form=form, waiting=waiting)


@bp.get("/imports/<uuid:contact_import_id>")
def import_(contact_import_id: UUID) -> str:
    """Show what became of each row of a list."""
    row, congregation = imports.one(db.session(), contact_import_id)
    unit, lines = lines_of(db.session(), contact_import_id) or ("", [])
    fate = clean(request.args.get("fate"))
    limit = current_app.config["CARILLON"].page_size
    page = imports.page_of(lines, fate, request.args.get("cursor"), limit)
    counts = {each: sum(line.fate is each for line in lines) for each in Fate}
    return render(
        "outreach/import.html",
        row=row,
        congregation=congregation,
        unit=unit,
        fate=fate,
        page=page,
        n_lines=len(lines),
        counts={each: n for each, n in counts.items() if n},
        n_made=row.counts.get("created", 0),
        kept_days=KEEP_LINES.days,
    )


@bp.post("/imports/<uuid:contact_import_id>/undo")
def undo(contact_import_id: UUID) -> ResponseReturnValue:
    """Take a list back."""
    done = undo_import(db.session(), contact_import_id, actor())
    db.session.commit()
    kept = (
        say(
            " %(contacts)s stay: touched since.",
            contacts=plural(done.n_kept, "contact"),
        )
        if done.n_kept
        else ""
    )
    flash(
        say(
            "%(contacts)s removed.%(kept)s",
            contacts=plural(done.n_contacts, "contact"),
            kept=kept,
        ),
        "success",
    )
    return redirect(url_for(".import_", contact_import_id=contact_import_id), 303)
