"""One's own account: by which clock, and in which language, pages are read."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.account.forms import AccountForm
from dashboard.extensions import db
from dashboard.languages import speak
from dashboard.operators.accounts import set_reading
from dashboard.security import actor, current_operator
from dashboard.web import render
from dashboard.zones import own_zone
from tasks.operations.congregation_fields import timezones
from tasks.saying import say

bp = Blueprint("account", __name__, url_prefix="/account")


@bp.get("/")
def index() -> str:
    """Show what the operator chose."""
    language = current_operator().language or ""
    return _page(AccountForm(timezone=own_zone().key, language=language))


@bp.post("/")
def update() -> ResponseReturnValue:
    """Keep what the operator chose."""
    form = AccountForm()
    if not form.validate_on_submit():
        return _page(form), 422
    database = db.session()
    operator = current_operator()
    set_reading(
        database,
        operator,
        form.timezone.data,
        form.language.data or None,
        actor=actor(),
    )
    database.commit()
    speak(operator.language)
    flash(say("Pages show times in %(zone)s now.", zone=operator.timezone), "success")
    return redirect(url_for(".index"), 303)


def _page(form: AccountForm) -> str:
    return render("account/index.html", form=form, timezones=timezones())
