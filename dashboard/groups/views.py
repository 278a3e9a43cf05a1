"""The pages of groups: the list, one of them, made and changed."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.groups import queries
from dashboard.groups.filters import GroupFilter
from dashboard.groups.forms import GroupForm
from dashboard.office import (
    CHOICES_MAX,
    Place,
    chosen_place,
    member_choices,
    page_size,
    place,
    places,
)
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.people import groups as engine
from tasks.errors import InvalidInput
from tasks.models import Group
from tasks.saying import say

bp: Final = Blueprint("groups", __name__, url_prefix="/groups")


@bp.get("/")
@explains("groups")
def index() -> str:
    """List the groups by name."""
    session, form = db.session(), GroupFilter.read(request.args)
    wanted, cursor = form.conditions(utcnow()), request.args.get("cursor")
    page = queries.listed(session, wanted, cursor, page_size())
    return render("groups/list.html", page=page, form=form, places=places(session))


@bp.get("/<uuid:group_id>")
def detail(group_id: UUID) -> str:
    """Show a group and its members."""
    session = db.session()
    row = engine.group(session, group_id)
    members = queries.members(session, row)
    inside = {str(member.id) for member in members}
    others = member_choices(session, row.congregation_id)
    return render(
        "groups/detail.html",
        row=row,
        place=place(session, row.congregation_id),
        head=queries.member(session, row.responsible_id),
        deputy=queries.member(session, row.deputy_id),
        members=members,
        others=[choice for choice in others if choice.value not in inside],
        n_others=len(others),
        choices_max=CHOICES_MAX,
    )


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new group; its congregation is asked for first."""
    return _new(GroupForm(), chosen_place())


@bp.post("/")
def create() -> ResponseReturnValue:
    """Add a group."""
    form, session = GroupForm(), db.session()
    within = chosen_place()
    if within is None or not form.validate_on_submit():
        return _new(form, within), 422
    try:
        row = engine.create_group(session, within.id, form.draft(), actor())
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _new(form, within), 422
    db.session.commit()
    flash(say("The group %(name)s is made.", name=row.name), "success")
    return redirect(url_for(".detail", group_id=row.id), 303)


@bp.get("/<uuid:group_id>/edit")
@require("operator")
def edit(group_id: UUID) -> str:
    """Show the form of a group."""
    row = engine.group(db.session(), group_id)
    return _edit(GroupForm(obj=row), row)


@bp.post("/<uuid:group_id>")
def update(group_id: UUID) -> ResponseReturnValue:
    """Change a group."""
    session, form = db.session(), GroupForm()
    row = engine.group(session, group_id)
    if not form.validate_on_submit():
        return _edit(form, row), 422
    version = request.form.get("version", type=int)
    try:
        engine.edit_group(session, group_id, form.draft(), actor(), version=version)
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _edit(form, engine.group(session, group_id)), 422
    db.session.commit()
    flash(say("Saved."), "success")
    return redirect(url_for(".detail", group_id=group_id), 303)


def _new(form: GroupForm, within: Place | None) -> str:
    keep = form.chosen()
    form.offer(member_choices(db.session(), within.id, keep=keep) if within else [])
    return render(
        "groups/new.html",
        form=form,
        within=within,
        places=places(db.session()),
        choices_max=CHOICES_MAX,
    )


def _edit(form: GroupForm, row: Group) -> str:
    keep = (row.responsible_id, row.deputy_id, *form.chosen())
    form.offer(member_choices(db.session(), row.congregation_id, keep=keep))
    return render("groups/edit.html", form=form, row=row, choices_max=CHOICES_MAX)
