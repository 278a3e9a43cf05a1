"""The list of addresses, and one of them."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.addresses import queries
from dashboard.addresses.filters import AddressFilter
from dashboard.addresses.forms import AddressForm
from dashboard.extensions import db
from dashboard.office import page_size
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.web import render
from tasks.clock import utcnow
from tasks.config import Config
from tasks.congregation.addresses.editing import edit_address
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.saying import say

bp: Final = Blueprint("addresses", __name__, url_prefix="/addresses")
#: What a form wraps around files, in bytes.
_ROUND_FILES: Final = 1_000_000
_UPLOADS: Final = frozenset({"addresses.start", "addresses.save_perimeter"})


@bp.url_value_preprocessor
def _allow_uploads(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    # Before anything reads the form, and that is the check of its token.
    if endpoint in _UPLOADS:
        request.max_content_length = config().archive_limit + _ROUND_FILES


@bp.get("/")
@explains("addresses")
def index() -> str:
    """List addresses by commune, street and number."""
    form = AddressFilter.read(request.args)
    session, cursor = db.session(), request.args.get("cursor")
    return render(
        "addresses/list.html",
        page=queries.addresses(session, form.wanted(utcnow()), cursor, page_size()),
        tabs=queries.TABS,
        form=form,
        n_missing=queries.n_missing(session),
        cap=COUNT_CAP,
        last=next(iter(queries.last_syncs(session, 1)), None),
    )


@bp.get("/<uuid:address_id>")
def detail(address_id: UUID) -> str:
    """Show an address and what may be changed about it."""
    form = AddressForm()
    form.fill(queries.address(db.session(), address_id)[0])
    return _page(address_id, form)


@bp.post("/<uuid:address_id>")
def update(address_id: UUID) -> ResponseReturnValue:
    """Change an address."""
    queries.address(db.session(), address_id)
    form = AddressForm()
    try:
        edit_address(db.session(), address_id, form.change(), actor())
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _page(address_id, form), 422
    db.session.commit()
    flash(say("Saved."), "success")
    return redirect(url_for(".detail", address_id=address_id), 303)


def config() -> Config:
    """Return the settings of this installation."""
    settings: Config = current_app.config["CARILLON"]
    return settings


def _page(address_id: UUID, form: AddressForm) -> str:
    row, congregation = queries.address(db.session(), address_id)
    return render(
        "addresses/detail.html", row=row, congregation=congregation, form=form
    )
