"""Taking members in, and changing what is known of them."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.members import queries
from dashboard.members.forms import MemberForm, NewMemberForm
from dashboard.members.views import bp
from dashboard.office import chosen_id, places
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.people.members import create_member, edit_member
from tasks.errors import InvalidInput
from tasks.saying import say


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new member."""
    return _new(NewMemberForm(congregation_id=request.args.get("within")))


@bp.post("/")
def create() -> ResponseReturnValue:
    """Take a member in."""
    form, session = NewMemberForm(), db.session()
    form.offer_places(places(session))
    congregation_id = chosen_id(form.congregation_id.data)
    if form.validate_on_submit() and congregation_id is not None:
        try:
            row = create_member(
                session, congregation_id, form.draft(), actor(), utcnow()
            )
        except InvalidInput as refused:
            session.rollback()
            form.refuse(refused)
        else:
            db.session.commit()
            flash(say("%(name)s is a member now.", name=row.name), "success")
            return redirect(url_for(".detail", member_id=row.id), 303)
    return _new(form), 422


@bp.get("/<uuid:member_id>/edit")
@require("operator")
def edit(member_id: UUID) -> str:
    """Show the form of a member."""
    row = queries.member(db.session(), member_id).row
    return render("members/edit.html", row=row, form=MemberForm.of(row))


@bp.post("/<uuid:member_id>")
def update(member_id: UUID) -> ResponseReturnValue:
    """Change a member."""
    session, form = db.session(), MemberForm()
    row = queries.member(session, member_id).row
    if form.validate_on_submit():
        version = request.form.get("version", type=int)
        try:
            edit_member(
                session, member_id, form.draft(), actor(), utcnow(), version=version
            )
        except InvalidInput as refused:
            session.rollback()
            form.refuse(refused)
        else:
            db.session.commit()
            flash(say("Saved."), "success")
            return redirect(url_for(".detail", member_id=member_id), 303)
    row = queries.member(session, member_id).row
    return render("members/edit.html", row=row, form=form), 422


def _new(form: NewMemberForm) -> str:
    form.offer_places(places(db.session()))
    return render("members/new.html", form=form)
