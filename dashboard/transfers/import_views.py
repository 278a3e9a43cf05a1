"""Imports: an archive uploaded, looked at, and confirmed with its number of rows."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filters import size
from dashboard.office import places
from dashboard.security import actor, require
from dashboard.storage import storage
from dashboard.transfers.forms import N_ROWS, ImportForm
from dashboard.transfers.views import bp, congregation_of
from dashboard.uploads import uploaded
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.transfer import starting
from tasks.db import sessions
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Transfer
from tasks.storage import StorageFailed


@bp.get("/import")
@require("operator")
def new_import() -> str:
    """Ask for an archive."""
    return _form(ImportForm(request.args))


@bp.post("/import")
def upload() -> ResponseReturnValue:
    """Keep an archive and let the lane look at it; nothing is changed by that."""
    form = ImportForm()
    try:
        row = _checked(congregation_of(form))
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _form(form), 422
    db.session.commit()
    return redirect(url_for(".detail", transfer_id=row.id), 303)


@bp.post("/<uuid:transfer_id>/import")
def confirm(transfer_id: UUID) -> ResponseReturnValue:
    """Import what was looked at, if it is still that many rows."""
    try:
        row = starting.confirm(
            db.session(),
            transfer_id,
            actor(),
            request.form.get(N_ROWS, -1, type=int),
            utcnow(),
        )
    except NotFound:
        raise
    except Conflict as refused:
        db.session.rollback()
        flash(refused.message, "error")
        return redirect(url_for(".detail", transfer_id=transfer_id), 303)
    db.session.commit()
    return redirect(url_for(".detail", transfer_id=row.id), 303)


def _checked(congregation_id: UUID) -> Transfer:
    """Keep the upload, and ask for a look at it.

    Raises:
        InvalidInput: there is no file, it is too large, or it cannot be kept now.
    """
    name, stream = uploaded()
    # Keeping it may take minutes, and nobody else could write to SQLite meanwhile.
    db.session.rollback()
    try:
        kept = starting.keep_upload(
            sessions(db.engine).begin,
            storage(),
            congregation_id,
            stream,
            name,
            utcnow(),
            limit=current_app.config["CARILLON"].archive_limit,
        )
    except StorageFailed as error:
        current_app.logger.warning("transfers.storage_failed", exc_info=True)
        raise InvalidInput("storage", str(error), field="file") from error
    return starting.start_check(db.session(), congregation_id, kept, actor(), utcnow())


def _form(form: ImportForm) -> str:
    form.offer_places(places(db.session()))
    limit = size(current_app.config["CARILLON"].archive_limit)
    return render("transfers/import.html", form=form, limit=limit)
