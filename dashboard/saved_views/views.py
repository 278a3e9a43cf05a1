"""Views: the pages where one saves, reads, changes and deletes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from flask import Blueprint, abort, flash, g, redirect, request, url_for
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue

from dashboard.exports.source import Source
from dashboard.exports.sources import SOURCES
from dashboard.extensions import db
from dashboard.saved_views import keeping
from dashboard.saved_views.counting import Counted, counted, known, url_of
from dashboard.saved_views.forms import ViewForm
from dashboard.search.kinds import SEARCHED
from dashboard.security import actor, current_operator, may
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import Conflict, InvalidInput
from tasks.lane import COUNT_CAP
from tasks.models import SavedView
from tasks.saying import say

bp = Blueprint("saved_views", __name__, url_prefix="/views")

#: Views that the page lists, that the menu has, and that stand above a list.
PAGE_MAX: Final = 200
MENU_MAX: Final = 8
BAR_MAX: Final = 12


@bp.get("/")
def index() -> str:
    """List the views that one sees, each with its number."""
    session, operator = db.session(), current_operator()
    return render(
        "saved_views/list.html",
        views=[
            counted(session, view)
            for view in keeping.visible(session, operator, PAGE_MAX)
        ],
        lists=SEARCHED,
        may_change=lambda view: keeping.may_change(operator, view),
        cap=COUNT_CAP,
        operator=operator,
    )


@bp.get("/menu")
def menu() -> str:
    """Return the menu's views with their numbers, which it asks for where it must."""
    session = db.session()
    views = keeping.visible(session, current_operator(), MENU_MAX)
    return render(
        "saved_views/_menu.html",
        menu_views=[counted(session, view) for view in views],
    )


@bp.get("/new/<list_name>")
def new(list_name: str) -> str:
    """Ask under which name a filter is to be saved."""
    return _show_new(_source(list_name), ViewForm.of())


@bp.post("/new/<list_name>")
def create(list_name: str) -> ResponseReturnValue:
    """Save a filter."""
    source, form = _source(list_name), ViewForm.of()
    if not form.validate():
        return _show_new(source, form), 422
    try:
        view = keeping.save(
            db.session(),
            current_operator(),
            actor(),
            list_name,
            source.search.anchored(),
            form.wish(),
            utcnow(),
        )
    except InvalidInput as refused:
        db.session.rollback()
        form.name.errors = [refused.message]
        return _show_new(source, form), 422
    db.session.commit()
    flash(say("Saved as “%(name)s”.", name=view.name), "success")
    return redirect(url_of(view), 303)


@bp.get("/<uuid:saved_view_id>")
def edit(saved_view_id: UUID) -> str:
    """Show a view, to be changed or deleted."""
    view = keeping.changeable(db.session(), current_operator(), saved_view_id)
    return _show_edit(view, ViewForm.of(view))


@bp.get("/<uuid:saved_view_id>/rows")
def rows(saved_view_id: UUID) -> ResponseReturnValue:
    """Go to the list as a view shows it: mails name this short address."""
    view = keeping.seen(db.session(), current_operator(), saved_view_id)
    return redirect(url_of(view), 303)


@bp.post("/<uuid:saved_view_id>")
def change(saved_view_id: UUID) -> ResponseReturnValue:
    """Change a view."""
    session = db.session()
    view = keeping.changeable(session, current_operator(), saved_view_id)
    form = ViewForm.of(view)
    if not form.validate():
        return _show_edit(view, form), 422
    try:
        keeping.change(session, view, form.wish(), actor(), utcnow())
    except Conflict as refused:
        session.rollback()
        form.name.errors = [refused.message]
        return _show_edit(view, form), 422
    session.commit()
    flash(say("Saved."), "success")
    return redirect(url_for(".index"), 303)


@bp.post("/<uuid:saved_view_id>/delete")
def delete(saved_view_id: UUID) -> ResponseReturnValue:
    """Delete a view."""
    session = db.session()
    view = keeping.changeable(session, current_operator(), saved_view_id)
    keeping.delete(session, view, actor())
    session.commit()
    flash(
        say(
            "Deleted the view “%(name)s”. What it showed is as it was.", name=view.name
        ),
        "success",
    )
    return redirect(url_for(".index"), 303)


def _source(list_name: str) -> Source:
    """Return the list with the address's filter, which is refused if it is none."""
    if list_name not in SOURCES:
        abort(404)
    if not may(SEARCHED[list_name].role):
        abort(403)
    return SOURCES[list_name](db.session(), utcnow(), request.args)


def _show_new(source: Source, form: ViewForm) -> str:
    search = source.search
    return render(
        "saved_views/new.html",
        form=form,
        of=search.of,
        params=search.params(),
        back=url_for(search.of.endpoint, **search.params()),
    )


def _show_edit(view: SavedView, form: ViewForm) -> str:
    return render(
        "saved_views/edit.html",
        form=form,
        view=view,
        of=SEARCHED[view.list_name],
        url=url_of(view),
    )


def _of_list(list_name: str) -> list[tuple[SavedView, str]]:
    """Return the views of one list with their addresses, for the bar above it."""
    found = _in_menu()
    if len(found) < MENU_MAX:  # so these are all views there are
        found = [view for view in found if view.list_name == list_name][:BAR_MAX]
    else:
        found = keeping.visible(db.session(), current_operator(), BAR_MAX, list_name)
    return [(view, url_of(view)) for view in found]


def _of_menu() -> list[Counted]:
    """Return the views of the menu, with the numbers that are known."""
    return [known(view) for view in _in_menu()]


def _in_menu() -> Sequence[SavedView]:
    """Return the first of all views; read once for a page."""
    if "views_in_menu" not in g:
        g.views_in_menu = keeping.visible(db.session(), current_operator(), MENU_MAX)
    found: Sequence[SavedView] = g.views_in_menu
    return found


@bp.record
def _give_templates(state: BlueprintSetupState) -> None:
    state.app.jinja_env.globals.update(
        saved_views_of=_of_list, saved_views_menu=_of_menu
    )
