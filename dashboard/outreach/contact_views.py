"""The pages of contacts."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.outreach import queries
from dashboard.outreach.filters import ContactFilter
from dashboard.outreach.views import bp
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.web import render
from tasks.clock import utcnow
from tasks.outreach import deeds
from tasks.saying import say


@bp.get("/contacts")
@explains("contacts")
def contacts() -> str:
    """List contacts, newest first."""
    form = ContactFilter.read(request.args)
    limit = current_app.config["CARILLON"].page_size
    wanted, cursor = form.conditions(utcnow()), request.args.get("cursor")
    page = queries.contacts(db.session(), wanted, cursor, limit)
    return render("outreach/contacts.html", page=page, form=form)


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
    flash(
        say("%(address)s is removed, with its engagements.", address=row.address),
        "success",
    )
    return redirect(url_for(".contacts"), 303)
