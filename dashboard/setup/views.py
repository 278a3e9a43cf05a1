"""The page behind a link that works once."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db, limiter
from dashboard.operators.models import Operator, SetupToken
from dashboard.operators.setup import find_token, finish
from dashboard.setup.forms import FirstAdminForm, PasswordForm
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.saying import say

bp = Blueprint("setup", __name__, url_prefix="/setup")


@bp.get("")
@limiter.limit("60 per hour")
def show() -> str:
    """Ask for what the link is for."""
    token = request.args.get("token", "")
    link = find_token(db.session(), token, now=utcnow())
    return _page(link, _form(link, token=token))


@bp.post("")
@limiter.limit("60 per hour")
def finish_setup() -> ResponseReturnValue:
    """Make the first admin, or set the password."""
    session = db.session()
    link = find_token(session, request.form.get("token", ""), now=utcnow())
    form = _form(link)
    if not form.validate_on_submit():
        return _page(link, form), 422
    try:
        operator = finish(
            session,
            link,
            form.password.data,
            **_who(form),
            ip=request.remote_addr,
            now=utcnow(),
        )
    except InvalidInput as error:
        name = "email" if error.field == "email" else "password"
        form[name].errors = [error.message]
        return _page(link, form), 422
    session.commit()
    flash(
        say("Welcome, %(name)s. Log in with your new password.", name=operator.name),
        "success",
    )
    return redirect(url_for("security.login"), 303)


def _form(link: SetupToken, **values: str) -> PasswordForm:
    kind = FirstAdminForm if link.operator_id is None else PasswordForm
    return kind(**values)


def _who(form: PasswordForm) -> dict[str, str]:
    """Return the first admin's address and name; nothing for a known operator."""
    if not isinstance(form, FirstAdminForm):
        return {}
    return {"email": form.email.data or "", "name": form.name.data or ""}


def _page(link: SetupToken, form: PasswordForm) -> str:
    operator = link.operator_id and db.session().get_one(Operator, link.operator_id)
    return render("setup/page.html", form=form, operator=operator)
