"""Putting an uploaded PDF into the storage."""

from __future__ import annotations

from datetime import datetime
from typing import BinaryIO
from uuid import UUID

from flask import current_app

from dashboard.extensions import db
from dashboard.storage import storage
from tasks.congregation.documents.files import Upload, upload_pdf
from tasks.db import sessions


def put(congregation_id: UUID, stream: BinaryIO, now: datetime) -> Upload:
    """Put a PDF into the storage; a row may need it from then on.

    It commits what the request has done so far: SQLite has one writer, and nobody
    should wait for a file that goes to a bucket.

    Raises:
        InvalidInput: it is empty, no PDF, or too large.
        StorageFailed: it could not be written.
    """
    db.session.commit()
    return upload_pdf(
        sessions(db.engine).begin,
        storage(),
        congregation_id,
        stream,
        limit=current_app.config["CARILLON"].upload_limit,
        now=now,
    )
