"""The congregations: listed, made, changed, and looked into."""

from __future__ import annotations

from flask import Blueprint, abort, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.congregations import home, queries
from dashboard.congregations.filters import CongregationFilter
from dashboard.congregations.forms import CongregationForm
from dashboard.extensions import db
from dashboard.lane_titles import lane_title
from dashboard.office import place
from dashboard.scope import chosen_congregation
from dashboard.search.views import explains
from dashboard.security import actor, current_operator, require
from dashboard.web import render
from tasks.automation.zone_moves import is_moving
from tasks.clock import utcnow
from tasks.config import Config
from tasks.daily import troubles
from tasks.errors import Conflict
from tasks.models import Congregation
from tasks.operations.congregation_fields import LOCALES, timezones
from tasks.operations.congregations import create_congregation, edit_congregation
from tasks.saying import say

bp = Blueprint("congregations", __name__, url_prefix="/congregations")


@bp.get("/")
@explains("congregations")
def index() -> str:
    """List the congregations by name."""
    session, form = db.session(), CongregationFilter.read(request.args)
    wanted, cursor = form.conditions(utcnow()), request.args.get("cursor")
    page = queries.congregations(session, wanted, cursor, page_size())
    return render(
        "congregations/list.html",
        page=page,
        form=form,
        n_podcasts=queries.podcast_counts(session, [row.id for row in page.rows]),
        locales=LOCALES,
        sees_all=current_operator().sees_all,
    )


@bp.get("/new")
@require("admin")
def new() -> str:
    """Show the form for a new congregation."""
    _must_see_all()
    return _form(CongregationForm(), None)


@bp.post("/")
@require("admin")
def create() -> ResponseReturnValue:
    """Add a congregation."""
    _must_see_all()
    form = CongregationForm()
    if not form.validate_on_submit():
        return _form(form, None), 422
    try:
        made = create_congregation(db.session(), form.change(), actor())
    except Conflict as refused:
        form.refuse(refused)
        return _form(form, None), 422
    db.session.commit()
    flash(say("%(name)s is created.", name=made.name), "success")
    # Where one is chosen, all pages hide the others: choose the new one instead.
    chosen = made.slug if chosen_congregation() else None
    return redirect(url_for(".detail", slug=made.slug, congregation=chosen), 303)


@bp.get("/<slug>")
def detail(slug: str) -> str:
    """Show a congregation and its podcasts."""
    session = db.session()
    found = queries.congregation(session, slug)
    page = queries.podcasts(session, found.id, request.args.get("cursor"), page_size())
    ids = [row.id for row in page.rows]
    return render(
        "congregations/detail.html",
        congregation=found,
        page=page,
        n_links=queries.link_counts(session, found.id, ids),
        next_bookings=queries.next_bookings(session, found.id, ids, utcnow()),
        locales=LOCALES,
        tiles=home.tiles(session, place(session, found.id)),
        troubles=troubles(session, found.id),
        lane_title=lane_title,
        is_moving=is_moving(session, found.id),
    )


@bp.get("/<slug>/edit")
@require("admin")
def edit(slug: str) -> str:
    """Show the form of a congregation."""
    found = queries.congregation(db.session(), slug)
    return _form(CongregationForm(obj=found), found)


@bp.post("/<slug>")
@require("admin")
def update(slug: str) -> ResponseReturnValue:
    """Change a congregation."""
    found = queries.congregation(db.session(), slug)
    form = CongregationForm()
    if not form.validate_on_submit():
        return _form(form, found), 422
    try:
        edit_congregation(db.session(), found.id, form.change(), actor())
    except Conflict as refused:
        form.refuse(refused)
        return _form(form, found), 422
    db.session.commit()
    flash(say("Saved."), "success")
    return redirect(url_for(".detail", slug=found.slug), 303)


def page_size() -> int:
    """Return how many rows one page of a list has."""
    config: Config = current_app.config["CARILLON"]
    return config.page_size


def _form(form: CongregationForm, congregation: Congregation | None) -> str:
    return render(
        "congregations/form.html",
        form=form,
        congregation=congregation,
        timezones=timezones(),
    )


def _must_see_all() -> None:
    if not current_operator().sees_all:
        abort(
            403,
            say("You would not see it: only admins of all congregations may add one."),
        )
