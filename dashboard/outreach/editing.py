"""Enrolling a contact by hand, and changing an engagement."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.outreach import queries
from dashboard.outreach.forms import EngagementForm, EnrolForm
from dashboard.outreach.views import bp
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.models import ContactSource
from tasks.outreach import deeds
from tasks.outreach.engagements import save_engagement
from tasks.outreach.looking import get_engagement
from tasks.saying import say


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new engagement."""
    form = EnrolForm()
    form.offer(queries.congregations(db.session()))
    return render("outreach/new.html", form=form)


@bp.post("/")
def create() -> ResponseReturnValue:
    """Enrol a contact for an agent."""
    form = EnrolForm()
    form.offer(queries.congregations(db.session()))
    if not form.validate_on_submit():
        return render("outreach/new.html", form=form), 422
    try:
        saved = save_engagement(
            db.session(),
            form.congregation,
            form.agent.data or "",
            form.address.data or "",
            form.values(),
            source=ContactSource.CONSOLE,
        )
    except InvalidInput as refused:
        db.session.rollback()
        form.offer(queries.congregations(db.session()))
        form.refuse(refused)
        return render("outreach/new.html", form=form), 422
    row = saved.row
    deeds.note(db.session(), row, actor(), "enrolled" if saved.created else "edited")
    db.session.commit()
    flash(say("%(address)s is enrolled.", address=row.address), "success")
    return redirect(url_for(".detail", engagement_id=row.id), 303)


@bp.get("/<uuid:engagement_id>/edit")
@require("operator")
def edit(engagement_id: UUID) -> str:
    """Show the form of an engagement."""
    found = queries.engagement(db.session(), engagement_id)
    return render("outreach/edit.html", one=found, form=EngagementForm.of(found.row))


@bp.post("/<uuid:engagement_id>")
def update(engagement_id: UUID) -> ResponseReturnValue:
    """Change an engagement."""
    row = get_engagement(db.session(), engagement_id)
    form = EngagementForm()
    if form.validate_on_submit():
        try:
            form.check(row)
            deeds.edit(db.session(), row, form.values_for(row), actor(), utcnow())
        except InvalidInput as refused:
            form.refuse(refused)
        else:
            db.session.commit()
            flash(say("Saved."), "success")
            return redirect(url_for(".detail", engagement_id=engagement_id), 303)
    db.session.rollback()
    found = queries.engagement(db.session(), engagement_id)
    return render("outreach/edit.html", one=found, form=form), 422
