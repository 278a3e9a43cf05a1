"""Fetching an archive; a POST, since it is written down who did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import BinaryIO, Final
from uuid import UUID

from flask import Response, current_app, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.security import actor
from dashboard.storage import storage
from dashboard.transfers.views import bp
from tasks.congregation.transfer import steering
from tasks.errors import Conflict
from tasks.models import Transfer
from tasks.saying import say
from tasks.storage import FileMissing, StorageFailed

_CHUNK: Final = 1 << 16
#: Whatever is in it, it runs nothing and loads nothing.
_POLICY: Final = "default-src 'none'; sandbox; frame-ancestors 'none'"


@bp.post("/<uuid:transfer_id>/download")
def download(transfer_id: UUID) -> ResponseReturnValue:
    """Send an archive, piece by piece."""
    try:
        row = steering.fetch(db.session(), transfer_id, actor())
    except Conflict as refused:
        db.session.rollback()
        return _back(transfer_id, refused.message)
    stack = ExitStack()
    try:
        stream = stack.enter_context(storage().open(row.file_key or ""))
    except (FileMissing, StorageFailed):
        db.session.rollback()  # nothing was fetched
        current_app.logger.warning("transfers.file_unavailable", exc_info=True)
        return _back(transfer_id, say("The storage does not give the archive now."))
    response = _response(row, stream)
    response.call_on_close(stack.close)
    db.session.commit()
    return response


def _response(row: Transfer, stream: BinaryIO) -> Response:
    response = Response(_pieces(stream), mimetype="application/zip")
    if row.file_size is not None:
        response.content_length = row.file_size
    response.headers.set("Content-Disposition", "attachment", filename=row.file_name)
    response.headers["Content-Security-Policy"] = _POLICY
    return response


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK):
        yield piece


def _back(transfer_id: UUID, sentence: str) -> ResponseReturnValue:
    flash(sentence, "error")
    return redirect(url_for(".detail", transfer_id=transfer_id), 303)
