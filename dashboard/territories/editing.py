"""Making territories, changing and deleting them."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.office import attempt, chosen_id, places
from dashboard.security import actor, require
from dashboard.territories.forms import NewTerritoryForm, TerritoryForm
from dashboard.territories.views import bp
from dashboard.web import render
from tasks.congregation.territories import territories as engine
from tasks.errors import InvalidInput
from tasks.saying import say


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new territory."""
    return _new(NewTerritoryForm(congregation_id=request.args.get("within")))


@bp.post("/")
def create() -> ResponseReturnValue:
    """Add a territory."""
    form, session = NewTerritoryForm(), db.session()
    form.offer_places(places(session))
    congregation_id = chosen_id(form.congregation_id.data)
    if form.validate_on_submit() and congregation_id is not None:
        try:
            row = engine.create_territory(
                session, congregation_id, form.draft(), actor()
            )
        except InvalidInput as refused:
            session.rollback()
            form.refuse(refused)
        else:
            db.session.commit()
            flash(say("Territory %(number)s is made.", number=row.number), "success")
            return redirect(url_for(".detail", territory_id=row.id), 303)
    return _new(form), 422


@bp.get("/<uuid:territory_id>/edit")
@require("operator")
def edit(territory_id: UUID) -> str:
    """Show the form of a territory."""
    row = engine.territory(db.session(), territory_id)
    return render("territories/edit.html", row=row, form=TerritoryForm(obj=row))


@bp.post("/<uuid:territory_id>")
def update(territory_id: UUID) -> ResponseReturnValue:
    """Change a territory."""
    session, form = db.session(), TerritoryForm()
    row = engine.territory(session, territory_id)
    if form.validate_on_submit():
        version = request.form.get("version", type=int)
        try:
            engine.edit_territory(
                session, territory_id, form.draft(), actor(), version=version
            )
        except InvalidInput as refused:
            session.rollback()
            form.refuse(refused)
            row = engine.territory(session, territory_id)
        else:
            db.session.commit()
            flash(say("Saved."), "success")
            return redirect(url_for(".detail", territory_id=territory_id), 303)
    return render("territories/edit.html", row=row, form=form), 422


@bp.post("/<uuid:territory_id>/delete")
def delete(territory_id: UUID) -> ResponseReturnValue:
    """Delete a territory that nobody ever worked on."""
    return attempt(
        lambda session, who, _: engine.delete_territory(session, territory_id, who),
        say("The territory is deleted."),
        url_for(".index"),
    )


def _new(form: NewTerritoryForm) -> str:
    form.offer_places(places(db.session()))
    return render("territories/new.html", form=form)
