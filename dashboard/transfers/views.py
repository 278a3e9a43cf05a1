"""Exports and imports: listed, asked for, watched, cancelled."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.office import attempt, chosen_id, page_size, places
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.transfers import queries
from dashboard.transfers.filters import TransferFilter
from dashboard.transfers.forms import ExportForm, ImportForm
from dashboard.uploads import take_files
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.transfer import starting, steering
from tasks.errors import InvalidInput
from tasks.saying import say

bp = Blueprint("transfers", __name__, url_prefix="/transfers")
take_files(bp, {"transfers.upload": lambda config: config.archive_limit})


@bp.get("/")
@explains("transfers")
def index() -> str:
    """List exports and imports, newest first."""
    form, cursor = TransferFilter.read(request.args), request.args.get("cursor")
    wanted = form.conditions(utcnow())
    page = queries.page(db.session(), wanted, cursor, page_size())
    return render("transfers/list.html", page=page, form=form)


@bp.get("/export")
@require("operator")
def new_export() -> str:
    """Ask what an archive is to have."""
    return _export_form(ExportForm(request.args))


@bp.post("/export")
def export() -> ResponseReturnValue:
    """Ask the lane for an archive."""
    form = ExportForm()
    try:
        row = starting.start_export(
            db.session(),
            congregation_of(form),
            actor(),
            files=bool(form.files.data),
            audit=bool(form.audit.data),
            now=utcnow(),
        )
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _export_form(form), 422
    db.session.commit()
    return redirect(url_for(".detail", transfer_id=row.id), 303)


@bp.get("/<uuid:transfer_id>")
def detail(transfer_id: UUID) -> str:
    """Show how far it is, or what was found and done."""
    session = db.session()
    line = queries.detail(session, transfer_id)
    return render(
        "transfers/detail.html",
        fragment="transfers/_progress.html",
        line=line,
        import_id=queries.import_of(session, line.row),
    )


@bp.post("/<uuid:transfer_id>/cancel")
def cancel(transfer_id: UUID) -> ResponseReturnValue:
    """Cancel it; nothing will have been changed."""
    return attempt(
        lambda session, who, now: steering.cancel(session, transfer_id, who, now),
        say("Cancelled; nothing is changed."),
        url_for(".detail", transfer_id=transfer_id),
    )


@bp.post("/<uuid:transfer_id>/remove")
def remove(transfer_id: UUID) -> ResponseReturnValue:
    """Remove its archive before its time."""
    return attempt(
        lambda session, who, now: steering.remove(session, transfer_id, who, now),
        say("The archive is removed."),
        url_for(".detail", transfer_id=transfer_id),
    )


def congregation_of(form: ExportForm | ImportForm) -> UUID:
    """Return whose data is meant.

    Raises:
        InvalidInput: none was chosen that is seen here.
    """
    chosen = chosen_id(form.congregation_id.data)
    if chosen is None or chosen not in {each.id for each in places(db.session())}:
        raise InvalidInput(
            "required", say("Choose a congregation."), field="congregation_id"
        )
    return chosen


def _export_form(form: ExportForm) -> str:
    if "congregation_id" not in request.values:  # a new form: the board goes along
        form.files.data = True
    form.offer_places(places(db.session()))
    return render("transfers/export.html", form=form)
