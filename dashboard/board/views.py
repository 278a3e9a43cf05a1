"""The board itself, and putting a document up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.board import queries
from dashboard.board.filters import BoardFilter
from dashboard.board.forms import TABS, NewDocumentForm
from dashboard.board.putting import put
from dashboard.congregations.queries import congregation
from dashboard.extensions import db
from dashboard.filters import size
from dashboard.scope import chosen_congregation
from dashboard.search.views import explains
from dashboard.security import actor, current_congregations, require
from dashboard.uploads import take_files, uploaded
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.documents import board, drafts, thumbnails
from tasks.congregation.documents.files import check_pdf
from tasks.congregation.documents.sections import add_section
from tasks.errors import InvalidInput
from tasks.models import Congregation, Document
from tasks.saying import mark, say, say_many
from tasks.storage import StorageFailed

bp = Blueprint("board", __name__, url_prefix="/board")
take_files(
    bp,
    dict.fromkeys(
        ("board.create", "board.replace"), lambda config: config.upload_limit
    ),
)
#: Thumbnails that one button asks for again.
_AT_ONCE: Final = 500
STORAGE_AWAY: Final = mark(
    "The file could not be kept: the storage of files does not answer. "
    "Nothing was saved. Try again in a minute."
)


@bp.get("/")
@explains("documents")
def index() -> str:
    """Show the documents by section."""
    form, of, now = BoardFilter.read(request.args), looked_at(), utcnow()
    page = queries.cards(
        db.session(),
        form.wanted(of, now),
        request.args.get("cursor"),
        current_app.config["CARILLON"].page_size,
        now,
    )
    return render(
        "board/list.html",
        fragment="board/_cards.html",
        page=page,
        form=form,
        tabs=TABS,
        congregations=of,
        n_undrawn=len(_undrawn(of)),
    )


@bp.post("/thumbnails")
def draw() -> ResponseReturnValue:
    """Try again what failed for a reason that may have passed."""
    session = db.session()
    n_asked = thumbnails.ask_again(session, _undrawn(looked_at()), utcnow())
    session.commit()
    flash(
        say_many(
            n_asked, "%(n)s thumbnail on the way.", "%(n)s thumbnails on the way."
        ),
        "success",
    )
    return redirect(url_for(".index"), 303)


@bp.get("/new")
@require("operator")
def choose() -> ResponseReturnValue:
    """Ask on which board to put a document; there may be one only."""
    of = looked_at()
    if len(of) == 1:
        return redirect(url_for(".new", slug=of[0].slug))
    return render("board/choose.html", congregations=of)


@bp.get("/<slug>/new")
@require("operator")
def new(slug: str) -> str:
    """Show the form for a new document."""
    return _form(NewDocumentForm(), congregation(db.session(), slug))


@bp.post("/<slug>/new")
def create(slug: str) -> ResponseReturnValue:
    """Put a document on the board."""
    session, form = db.session(), NewDocumentForm()
    of = congregation(session, slug)
    form.offer(queries.sections(session, of.id))
    if not form.validate_on_submit():
        return _form(form, of), 422
    try:
        made = _create(form, of)
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _form(form, of), 422
    except StorageFailed:
        current_app.logger.warning("board.storage_failed", exc_info=True)
        flash(say(STORAGE_AWAY), "error")
        return _form(form, of), 503
    session.commit()
    flash(say("“%(title)s” is on the board.", title=made.title), "success")
    return redirect(url_for(".detail", document_id=made.id), 303)


def looked_at() -> Sequence[Congregation]:
    """Return the chosen congregation, or all that the operator may see."""
    chosen = chosen_congregation()
    return current_congregations() if chosen is None else [chosen]


def _undrawn(of: Sequence[Congregation]) -> Sequence[UUID]:
    """Return files that another try could give a thumbnail; at most ``_AT_ONCE``."""
    return thumbnails.may_be_drawn(db.session(), [one.id for one in of], _AT_ONCE)


def _create(form: NewDocumentForm, of: Congregation) -> Document:
    session, now = db.session(), utcnow()
    # What is wrong is said before anything is put anywhere.
    filename, stream = uploaded()
    check_pdf(stream)
    draft = form.draft(section_of(form, of))
    drafts.fill(session, Document(congregation_id=of.id), draft)
    upload = put(of.id, stream, now)
    return board.add_document(session, upload, filename, draft, actor(), now)


def section_of(form: NewDocumentForm, of: Congregation) -> UUID:
    """Return the section that a form names, which is added when it is a new one.

    Raises:
        InvalidInput: its name cannot be accepted.
    """
    if not form.new_section.data:
        return UUID(form.section.data)
    try:
        return add_section(db.session(), of.id, form.new_section.data, actor()).id
    except InvalidInput as refused:
        raise InvalidInput(
            refused.code, refused.message, field="new_section"
        ) from refused


def _form(form: NewDocumentForm, of: Congregation) -> str:
    form.offer(queries.sections(db.session(), of.id))
    limit = size(current_app.config["CARILLON"].upload_limit)
    form.tell(
        say("At most %(size)s. Its first page is drawn within seconds.", size=limit)
    )
    return render("board/new.html", form=form, congregation=of)
