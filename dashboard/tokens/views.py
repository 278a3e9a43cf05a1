"""The page of API tokens, for admins: list, make, revoke."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.tokens import queries
from dashboard.tokens.filters import TokenFilter
from dashboard.tokens.forms import TokenForm
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.operations.tokens import create_token, revoke_token
from tasks.saying import say

bp = Blueprint("tokens", __name__, url_prefix="/tokens")


@bp.get("/")
@require("admin")
@explains("tokens")
def index() -> str:
    """List the tokens, newest first."""
    form, now = TokenFilter.read(request.args), utcnow()
    limit = current_app.config["CARILLON"].page_size
    wanted, cursor = form.conditions(now), request.args.get("cursor")
    page = queries.tokens(db.session(), wanted, now, cursor, limit)
    return render("tokens/list.html", page=page, form=form)


@bp.get("/new")
@require("admin")
def new() -> str:
    """Show the form of a new token."""
    form = TokenForm()
    form.offer(queries.congregations(db.session()))
    return render("tokens/form.html", form=form)


@bp.post("/")
@require("admin")
def create() -> ResponseReturnValue:
    """Make a token, and show it this once.

    The answer is the page itself and no redirect: the plain text stands nowhere else,
    not even in the session.
    """
    form = TokenForm()
    form.offer(queries.congregations(db.session()))
    if not form.validate_on_submit():
        return render("tokens/form.html", form=form), 422
    try:
        token, plaintext = create_token(
            db.session(),
            form.congregation,
            form.name.data or "",
            form.scopes.data or (),
            form.expires_at(utcnow()),
            actor(),
        )
    except InvalidInput as refused:
        form.refuse(refused)
        return render("tokens/form.html", form=form), 422
    address = current_app.config["CARILLON"].base_url
    page = render(
        "tokens/made.html", token=token, plaintext=plaintext, base_url=address
    )
    db.session.commit()
    return page, 201


@bp.post("/<uuid:token_id>/revoke")
@require("admin")
def revoke(token_id: UUID) -> ResponseReturnValue:
    """Take a token back."""
    token = revoke_token(db.session(), token_id, actor())
    db.session.commit()
    flash(
        say("“%(name)s” is revoked and refused from now on.", name=token.name),
        "success",
    )
    return redirect(url_for(".index"), 303)
