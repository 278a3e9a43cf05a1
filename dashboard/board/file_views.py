"""Files of the board as browsers get them: to be saved, and as small pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import BinaryIO, Final
from urllib.parse import quote
from uuid import UUID

from flask import Response, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.http import dump_options_header

from dashboard.board import queries
from dashboard.board.views import bp
from dashboard.extensions import db
from dashboard.storage import storage
from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import StoredFile, ThumbnailState
from tasks.saying import mark, say
from tasks.storage import FileMissing, StorageFailed

_CHUNK: Final = 1 << 16
#: Whatever a file holds, it runs nothing and loads nothing.
_POLICY: Final = "default-src 'none'; sandbox; frame-ancestors 'none'"
_NO_PICTURE: Final = mark("There is no thumbnail, or not yet.")


@bp.get("/<uuid:document_id>/download")
def download(document_id: UUID) -> ResponseReturnValue:
    """Send the current file."""
    found = queries.card(db.session(), document_id, utcnow())
    return _attachment(document_id, found.file, found.document.filename)


@bp.get("/<uuid:document_id>/versions/<int:number>/download")
def download_version(document_id: UUID, number: int) -> ResponseReturnValue:
    """Send the file of a version."""
    version, file = queries.version(db.session(), document_id, number)
    return _attachment(document_id, file, version.filename)


@bp.get("/files/<uuid:file_id>/thumbnail")
def thumbnail(file_id: UUID) -> ResponseReturnValue:
    """Send a thumbnail; browsers keep it and ask whether it is still the same."""
    file = db.session().get(StoredFile, file_id)
    if file is None or file.thumbnail_state is not ThumbnailState.READY:
        raise NotFound("no_thumbnail", say(_NO_PICTURE))
    etag = f"{file.id.hex}-{file.attempt}"
    if request.if_none_match.contains(etag):
        response = Response(status=304)
    else:
        try:
            with storage().open(file.thumbnail_key or "") as stream:
                response = Response(stream.read(), mimetype="image/png")
        except FileMissing as error:
            raise NotFound("no_thumbnail", say(_NO_PICTURE)) from error
        except StorageFailed:
            current_app.logger.warning("board.storage_failed", exc_info=True)
            return Response(status=503)
    response.set_etag(etag)
    response.headers["Content-Security-Policy"] = _POLICY
    # Others on this browser must not see it: it asks each time, and gets few bytes.
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _attachment(
    document_id: UUID, file: StoredFile, filename: str
) -> ResponseReturnValue:
    stack = ExitStack()
    try:
        stream = stack.enter_context(storage().open(file.key))
    except (FileMissing, StorageFailed) as error:
        is_missing = isinstance(error, FileMissing)
        current_app.logger.warning("board.file_unavailable", exc_info=True)
        flash(
            say("The file is not in the storage any more.")
            if is_missing
            else say("The storage of files does not answer. Try again in a minute."),
            "error",
        )
        return redirect(url_for(".detail", document_id=document_id), 303)
    response = Response(_pieces(stream), mimetype=file.media_type)
    response.call_on_close(stack.close)
    response.content_length = file.size
    response.headers["Content-Disposition"] = dump_options_header(
        "attachment", _names(filename)
    )
    response.headers["Content-Security-Policy"] = _POLICY
    return response


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK):
        yield piece


def _names(filename: str) -> dict[str, str]:
    """Return the name for old browsers in plain letters, and for others as it is."""
    plain = filename.encode("ascii", "replace").decode("ascii")
    return {
        "filename": "".join("_" if char in '?"\\%;' else char for char in plain),
        "filename*": "UTF-8''" + quote(filename, safe=""),
    }
