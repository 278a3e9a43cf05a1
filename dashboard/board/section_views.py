"""The sections of a board: named, put in order, removed."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.board import queries
from dashboard.board.forms import NewSectionForm, SectionForm
from dashboard.board.views import bp
from dashboard.congregations.queries import congregation
from dashboard.extensions import db
from dashboard.security import actor, require
from dashboard.web import render
from tasks.congregation.documents import sections as domain
from tasks.errors import InvalidInput, NotFound
from tasks.models import BoardSection
from tasks.saying import say


@bp.get("/<slug>/sections")
@require("operator")
def sections(slug: str) -> str:
    """List a board's sections."""
    return _page(slug, NewSectionForm())


@bp.post("/<slug>/sections")
def add(slug: str) -> ResponseReturnValue:
    """Add a section."""
    form = NewSectionForm()
    of = congregation(db.session(), slug)
    if not form.validate_on_submit():
        return _page(slug, form), 422
    try:
        row = domain.add_section(db.session(), of.id, form.name.data, actor())
    except InvalidInput as refused:
        form.refuse(refused)
        return _page(slug, form), 422
    db.session.commit()
    flash(say("The board has a section “%(name)s”.", name=row.name), "success")
    return redirect(url_for(".sections", slug=slug), 303)


@bp.post("/sections/<uuid:section_id>")
def rename(section_id: UUID) -> ResponseReturnValue:
    """Change a section's name or place."""
    session, form = db.session(), SectionForm()
    slug = _slug(section_id)
    if not form.validate_on_submit():
        flash(_first_error(form), "error")
        return redirect(url_for(".sections", slug=slug), 303)
    try:
        row = domain.change_section(
            session, section_id, form.name.data, form.position.data, actor()
        )
    except NotFound:
        raise
    except InvalidInput as refused:
        session.rollback()
        flash(refused.message, "error")
        return redirect(url_for(".sections", slug=slug), 303)
    session.commit()
    flash(say("“%(name)s” is saved.", name=row.name), "success")
    return redirect(url_for(".sections", slug=slug), 303)


@bp.post("/sections/<uuid:section_id>/remove")
def remove(section_id: UUID) -> ResponseReturnValue:
    """Remove a section without documents."""
    slug = _slug(section_id)
    row = domain.remove_section(db.session(), section_id, actor())
    db.session.commit()
    flash(say("The section “%(name)s” is removed.", name=row.name), "success")
    return redirect(url_for(".sections", slug=slug), 303)


def _slug(section_id: UUID) -> str:
    row = db.session().get(BoardSection, section_id)
    if row is None:
        raise NotFound(
            "unknown_section", say("There is no such section, or not any more.")
        )
    return queries.slug_of(db.session(), row.congregation_id)


def _first_error(form: SectionForm) -> str:
    return str(next(error for errors in form.errors.values() for error in errors))


def _page(slug: str, form: NewSectionForm) -> str:
    of = congregation(db.session(), slug)
    rows = queries.sections(db.session(), of.id)
    counts = domain.n_documents(db.session(), [row.id for row in rows])
    return render(
        "board/sections.html", form=form, congregation=of, rows=rows, counts=counts
    )
