"""One document: looked at, changed, given another file, taken back, removed."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.board import queries
from dashboard.board.forms import DocumentForm, FileForm
from dashboard.board.putting import put
from dashboard.board.views import STORAGE_AWAY, bp, section_of
from dashboard.extensions import db
from dashboard.filters import size
from dashboard.security import actor, require
from dashboard.uploads import uploaded
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.documents import board, thumbnails
from tasks.errors import InvalidInput, NotFound
from tasks.saying import say
from tasks.storage import StorageFailed


@bp.get("/<uuid:document_id>")
def detail(document_id: UUID) -> str:
    """Show a document, its versions and how its thumbnail stands."""
    return _page(document_id, FileForm())


@bp.post("/<uuid:document_id>/replace")
def replace(document_id: UUID) -> ResponseReturnValue:
    """Give a document another file."""
    session, form, now = db.session(), FileForm(), utcnow()
    found = queries.card(session, document_id, now)
    try:
        filename, stream = uploaded()
        upload = put(found.document.congregation_id, stream, now)
        row = board.replace_file(session, document_id, upload, filename, actor(), now)
    except NotFound:
        raise
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _page(document_id, form), 422
    except StorageFailed:
        current_app.logger.warning("board.storage_failed", exc_info=True)
        flash(say(STORAGE_AWAY), "error")
        return _page(document_id, form), 503
    session.commit()
    flash(
        say(
            "“%(title)s” has another file; the one before stays below.", title=row.title
        ),
        "success",
    )
    return redirect(url_for(".detail", document_id=document_id), 303)


@bp.post("/<uuid:document_id>/versions/<int:number>/take-back")
def take_back(document_id: UUID, number: int) -> ResponseReturnValue:
    """Make an earlier version the current one."""
    board.take_back(db.session(), document_id, number, actor(), utcnow())
    db.session.commit()
    flash(say("Version %(number)s is the current one again.", number=number), "success")
    return redirect(url_for(".detail", document_id=document_id), 303)


@bp.get("/<uuid:document_id>/edit")
@require("operator")
def edit(document_id: UUID) -> str:
    """Show the form of a document."""
    found = queries.card(db.session(), document_id, utcnow())
    form = DocumentForm()
    form.show(found.document)
    return _edit_page(form, found)


@bp.post("/<uuid:document_id>/edit")
def update(document_id: UUID) -> ResponseReturnValue:
    """Change a document."""
    session, form, now = db.session(), DocumentForm(), utcnow()
    found = queries.card(session, document_id, now)
    form.offer(queries.sections(session, found.congregation.id))
    if not form.validate_on_submit():
        return _edit_page(form, found), 422
    seen = request.form.get("version", 0, type=int)
    try:
        draft = form.draft(section_of(form, found.congregation))
        row = board.change_document(
            session, document_id, draft, actor(), now, version=seen
        )
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _edit_page(form, queries.card(session, document_id, now)), 422
    session.commit()
    flash(say("“%(title)s” is changed.", title=row.title), "success")
    return redirect(url_for(".detail", document_id=document_id), 303)


@bp.post("/<uuid:document_id>/thumbnail")
def retry(document_id: UUID) -> ResponseReturnValue:
    """Try the thumbnail once more."""
    session, now = db.session(), utcnow()
    found = queries.card(session, document_id, now)
    n_asked = thumbnails.ask_again(session, [found.file.id], now)
    session.commit()
    if n_asked:
        flash(say("The thumbnail is tried again."), "success")
    else:
        flash(say("The thumbnail is there, or on its way already."), "info")
    return redirect(url_for(".detail", document_id=document_id), 303)


@bp.post("/<uuid:document_id>/delete")
def delete(document_id: UUID) -> ResponseReturnValue:
    """Remove a document with all its versions."""
    row = board.delete_document(db.session(), document_id, actor(), utcnow())
    db.session.commit()
    flash(
        say("“%(title)s” is removed, with all its versions.", title=row.title),
        "success",
    )
    return redirect(url_for(".index"), 303)


def _page(document_id: UUID, form: FileForm) -> str:
    found = queries.card(db.session(), document_id, utcnow())
    limit = size(current_app.config["CARILLON"].upload_limit)
    form.tell(
        say("At most %(size)s. The file of today stays as a version.", size=limit)
    )
    return render(
        "board/detail.html",
        fragment="board/_thumbnail.html",
        card=found,
        versions=queries.versions(db.session(), document_id),
        form=form,
    )


def _edit_page(form: DocumentForm, found: queries.Card) -> str:
    form.offer(queries.sections(db.session(), found.congregation.id))
    return render("board/edit.html", form=form, card=found)
