"""The pages of contacts, and of the lists that they came from."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.filters import plural
from dashboard.outreach import queries
from dashboard.outreach.views import bp
from dashboard.security import actor
from dashboard.web import render
from tasks.outreach import deeds
from tasks.outreach.undoing import undo_import


@bp.get("/contacts")
def contacts() -> str:
    """List contacts, newest first."""
    beginning = clean(request.args.get("q"))[:254]
    limit = current_app.config["CARILLON"].page_size
    page = queries.contacts(db.session(), beginning, request.args.get("cursor"), limit)
    imports = queries.imports(db.session())
    return render(
        "outreach/contacts.html", page=page, beginning=beginning, imports=imports
    )


@bp.get("/contacts/<uuid:contact_id>")
def contact(contact_id: UUID) -> str:
    """Show a contact and its engagements."""
    row, congregation = queries.contact(db.session(), contact_id)
    return render(
        "outreach/contact.html",
        row=row,
        congregation=congregation,
        rows=queries.of_contact(db.session(), contact_id),
    )


@bp.post("/contacts/<uuid:contact_id>/remove")
def remove_contact(contact_id: UUID) -> ResponseReturnValue:
    """Remove a contact and its engagements; suppressions stay."""
    row, _ = queries.contact(db.session(), contact_id)
    deeds.remove_contact(db.session(), row, actor())
    db.session.commit()
    flash(f"{row.address} is removed, with its engagements.", "success")
    return redirect(url_for(".contacts"), 303)


@bp.post("/imports/<uuid:contact_import_id>/undo")
def undo(contact_import_id: UUID) -> ResponseReturnValue:
    """Take a list back."""
    done = undo_import(db.session(), contact_import_id, actor())
    db.session.commit()
    kept = (
        f" {plural(done.n_kept, 'contact')} stay: touched since." if done.n_kept else ""
    )
    flash(f"{plural(done.n_contacts, 'contact')} removed.{kept}", "success")
    return redirect(url_for(".contacts"), 303)
