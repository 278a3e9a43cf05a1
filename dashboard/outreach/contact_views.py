"""The pages of contacts."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.outreach import queries
from dashboard.outreach.views import bp
from dashboard.security import actor
from dashboard.web import render
from tasks.outreach import deeds


@bp.get("/contacts")
def contacts() -> str:
    """List contacts, newest first."""
    beginning = clean(request.args.get("q"))[:254]
    limit = current_app.config["CARILLON"].page_size
    page = queries.contacts(db.session(), beginning, request.args.get("cursor"), limit)
    return render("outreach/contacts.html", page=page, beginning=beginning)


@bp.get("/contacts/<uuid:contact_id>")
def contact(contact_id: UUID) -> str:
    """Show a contact and its engagements."""
    row, congregation = queries.contact(db.session(), contact_id)
    return render(
        "outreach/contact.html",
        row=row,
        congregation=congregation,
        rows=queries.of_contact(db.session(), contact_id),
        shown_max=queries.SHOWN_MAX,
    )


@bp.post("/contacts/<uuid:contact_id>/remove")
def remove_contact(contact_id: UUID) -> ResponseReturnValue:
    """Remove a contact and its engagements; suppressions stay."""
    row, _ = queries.contact(db.session(), contact_id)
    deeds.remove_contact(db.session(), row, actor())
    db.session.commit()
    flash(f"{row.address} is removed, with its engagements.", "success")
    return redirect(url_for(".contacts"), 303)
