"""The page of suppressions: look, stop an address, let it have mails again."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.suppressions import queries
from dashboard.suppressions.forms import SuppressionFilter, SuppressionForm
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.operations.suppressions import lift as lift_suppression
from tasks.operations.suppressions import suppress
from tasks.saying import say

bp = Blueprint("suppressions", __name__, url_prefix="/suppressions")


@bp.get("/")
@explains("suppressions")
def index() -> str:
    """List the addresses, newest first."""
    form = SuppressionFilter.read(request.args)
    limit = current_app.config["CARILLON"].page_size
    cursor = request.args.get("cursor")
    wanted = form.conditions(utcnow())
    page = queries.suppressions(db.session(), wanted, cursor, limit)
    return render("suppressions/list.html", page=page, form=form)


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new entry."""
    form = SuppressionForm()
    form.offer(queries.congregations(db.session()))
    return render("suppressions/form.html", form=form)


@bp.post("/")
def create() -> ResponseReturnValue:
    """Stop the mails to an address."""
    form = SuppressionForm()
    form.offer(queries.congregations(db.session()))
    if not form.validate_on_submit():
        return render("suppressions/form.html", form=form), 422
    try:
        row = suppress(
            db.session(),
            form.congregation,
            form.address.data or "",
            form.why,
            actor(),
            agent=form.agent.data or "",
            note=form.note.data or "",
        )
    except InvalidInput as refused:
        form.refuse(refused)
        return render("suppressions/form.html", form=form), 422
    db.session.commit()
    if row.agent:
        told = say(
            "%(address)s gets no mails from %(agent)s from now on.",
            address=row.address,
            agent=row.agent,
        )
    else:
        told = say("%(address)s gets no mails from now on.", address=row.address)
    flash(told, "success")
    return redirect(url_for(".index"), 303)


@bp.post("/<uuid:suppression_id>/lift")
def lift(suppression_id: UUID) -> ResponseReturnValue:
    """Let an address have mails again."""
    row = lift_suppression(db.session(), suppression_id, actor())
    db.session.commit()
    flash(
        say(
            "%(address)s gets mails again. What was left out meanwhile stays so.",
            address=row.address,
        ),
        "success",
    )
    return redirect(url_for(".index"), 303)
