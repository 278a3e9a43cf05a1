"""One's own account: by which clock the pages tell times."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.account.forms import AccountForm
from dashboard.extensions import db
from dashboard.operators.accounts import set_timezone
from dashboard.security import actor, current_operator
from dashboard.web import render
from dashboard.zones import own_zone
from tasks.operations.congregation_fields import timezones

bp = Blueprint("account", __name__, url_prefix="/account")


@bp.get("/")
def index() -> str:
    """Show what the operator chose."""
    return _page(AccountForm(timezone=own_zone().key))


@bp.post("/")
def update() -> ResponseReturnValue:
    """Keep what the operator chose."""
    form = AccountForm()
    if not form.validate_on_submit():
        return _page(form), 422
    database = db.session()
    chosen = set_timezone(
        database, current_operator(), form.timezone.data, actor=actor()
    )
    database.commit()
    flash(f"Pages show times in {chosen} now.", "success")
    return redirect(url_for(".index"), 303)


def _page(form: AccountForm) -> str:
    return render("account/index.html", form=form, timezones=timezones())
