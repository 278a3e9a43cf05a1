"""The page of operators: who may log in, and what they may do.  For admins only."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.operators import accounts, queries
from dashboard.operators.forms import AccessForm, OperatorForm
from dashboard.operators.models import Operator, RoleName
from dashboard.operators.setup import new_password_link
from dashboard.scope import allowed_congregations
from dashboard.security import actor, current_operator
from dashboard.web import render
from tasks.config import Config
from tasks.errors import Conflict, InvalidInput
from tasks.operations.audit import Subject, record
from tasks.saying import say

bp = Blueprint("operators", __name__, url_prefix="/operators")


@bp.get("/")
def index() -> str:
    """List everybody."""
    return render(
        "operators/list.html",
        operators=queries.everybody(db.session(), allowed_congregations()),
        me=current_operator(),
    )


@bp.get("/new")
def new() -> str:
    """Show the form for a new operator."""
    form = OperatorForm()
    _offer(form)
    return render("operators/form.html", form=form, operator=None)


@bp.post("/")
def create() -> ResponseReturnValue:
    """Add an operator, and show the link that sets their password."""
    database = db.session()
    form = OperatorForm()
    _offer(form)
    if not form.validate_on_submit():
        return render("operators/form.html", form=form, operator=None), 422
    try:
        operator = accounts.create_operator(
            database,
            form.email.data,
            None,
            form.role.data,
            form.everywhere,
            name=clean(form.name.data),
            congregations=form.chosen(),
            actor=actor(),
        )
    except InvalidInput as error:
        form.email.errors = [error.message]
        return render("operators/form.html", form=form, operator=None), 422
    return _link_page(operator)


@bp.get("/<uuid:operator_id>")
def edit(operator_id: UUID) -> str:
    """Show what an operator may do and see."""
    database = db.session()
    operator = _one(operator_id)
    given = queries.congregations_of(database, operator)
    form = AccessForm(
        role=operator.role.value,
        sees_all=operator.sees_all,
        congregations=[*map(str, given)],
    )
    _offer(form)
    return render("operators/form.html", form=form, operator=operator)


@bp.post("/<uuid:operator_id>")
def update(operator_id: UUID) -> ResponseReturnValue:
    """Change what an operator may do and see."""
    database = db.session()
    operator = _one(operator_id)
    form = AccessForm()
    _offer(form)
    if not form.validate_on_submit():
        return render("operators/form.html", form=form, operator=operator), 422
    try:
        accounts.change_access(
            database,
            operator,
            RoleName(form.role.data),
            sees_all=form.everywhere,
            congregations=form.chosen(queries.congregations_of(database, operator)),
            actor=actor(),
        )
    except Conflict as error:
        return _refused(error)
    role = say(operator.role.label).lower()
    return _saved(say("%(email)s is %(role)s now.", email=operator.email, role=role))


@bp.post("/<uuid:operator_id>/<any(enable, disable):verb>")
def switch(operator_id: UUID, verb: str) -> ResponseReturnValue:
    """Let an operator log in, or not."""
    database = db.session()
    operator = _one(operator_id)
    try:
        accounts.set_active(database, operator, verb == "enable", actor=actor())
    except Conflict as error:
        return _refused(error)
    return _saved(
        say("%(email)s is enabled.", email=operator.email)
        if operator.active
        else say("%(email)s is disabled.", email=operator.email)
    )


@bp.post("/<uuid:operator_id>/link")
def link(operator_id: UUID) -> ResponseReturnValue:
    """Make a link with which the operator sets a new password."""
    return _link_page(_one(operator_id))


def _one(operator_id: UUID) -> Operator:
    return queries.operator(db.session(), operator_id, allowed_congregations())


def _offer(form: AccessForm) -> None:
    """Let nobody give more than they have themselves."""
    found = queries.congregations(db.session(), allowed_congregations())
    form.offer(found, everywhere=current_operator().sees_all)


def _link_page(operator: Operator) -> str:
    """Make a link and show it this once: it is kept as a digest only."""
    config: Config = current_app.config["CARILLON"]
    database = db.session()
    address = new_password_link(database, operator, config.base_url)
    subject = Subject("operator", str(operator.id))
    summary = f"A link to set a password was made for {operator.email}."
    record(database, actor(), "operator.link_made", subject, summary)
    database.commit()
    return render("operators/link.html", operator=operator, address=address)


def _saved(sentence: str) -> ResponseReturnValue:
    db.session.commit()
    flash(sentence, "success")
    return redirect(url_for(".index"), 303)


def _refused(error: Conflict) -> ResponseReturnValue:
    db.session.rollback()
    flash(error.message, "error")
    return redirect(url_for(".index"), 303)
