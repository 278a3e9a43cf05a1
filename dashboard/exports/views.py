"""Exports: how many rows it would be, then the file."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, Response, abort, g, request, url_for
from sqlalchemy.orm import Session

from dashboard.exports.files import FORMATS
from dashboard.exports.reading import EXPORT_MAX, Reading
from dashboard.exports.source import Source
from dashboard.exports.sources import SOURCES
from dashboard.extensions import db
from dashboard.scope import chosen_congregation
from dashboard.search.kinds import SEARCHED
from dashboard.security import actor, may, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.db import Congregations
from tasks.lane import COUNT_CAP
from tasks.models.base import Json
from tasks.operations.audit import Subject, record
from tasks.operations.bulk import count

bp = Blueprint("exports", __name__, url_prefix="/exports")


@bp.get("/<list_name>")
@require("operator")
def ask(list_name: str) -> str:
    """Say how many rows an export would hold, and offer the files."""
    source = _source(list_name)
    of, params = source.search.of, source.search.params()
    return render(
        "exports/ask.html",
        of=of,
        params=params,
        n=count(db.session(), source.ids, COUNT_CAP),
        cap=COUNT_CAP,
        most=EXPORT_MAX,
        formats=FORMATS,
        back=url_for(of.endpoint, **params),
    )


@bp.post("/<list_name>/<file_format>")
def download(list_name: str, file_format: str) -> Response:
    """Write the file while it is read; the log is told before and afterwards."""
    source = _source(list_name)
    if file_format not in FORMATS:
        abort(404)
    asked = _asked(source) | {"format": file_format}
    _tell_of_beginning(db.session(), source, asked)
    db.session.commit()
    under_way = Reading(db.engine, g.scope, source, actor(), asked)
    chosen = FORMATS[file_format]
    about = {
        "list": list_name,
        "asked": source.search.anchored(),
        "exported_at": utcnow().isoformat(),
        "at_most": EXPORT_MAX,
    }
    name = f"{list_name}-{utcnow():%Y-%m-%d-%H%M}.{file_format}"
    return Response(
        chosen.write([*source.columns], under_way.batches(), about),
        mimetype=chosen.mimetype,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _source(list_name: str) -> Source:
    if list_name not in SOURCES:
        abort(404)
    if not may(SEARCHED[list_name].role):
        abort(403)
    return SOURCES[list_name](db.session(), utcnow(), request.args)


def _asked(source: Source) -> Json:
    return {"list": source.search.of.word, "filter": source.search.anchored()}


def _tell_of_beginning(session: Session, source: Source, asked: Json) -> None:
    """Leave an entry before anything leaves the house."""
    chosen = chosen_congregation()
    one = chosen.id if chosen else _only(g.scope)
    many = source.search.of.many
    record(
        session,
        actor(),
        "export.begun",
        Subject("export", source.search.of.word, one),
        f"Began to export {many}.",
        after=asked,
    )


def _only(scope: Congregations) -> UUID | None:
    """Return the one congregation that an operator sees; None: several, or every."""
    if isinstance(scope, frozenset) and len(scope) == 1:
        return next(iter(scope))
    return None
