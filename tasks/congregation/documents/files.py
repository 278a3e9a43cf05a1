"""Stored files: one row and one file for each content that a congregation has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Final
from uuid import UUID

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.congregation import loose_files
from tasks.db import Begin
from tasks.errors import InvalidInput
from tasks.models.base import new_id
from tasks.models.document import PDF, Document, DocumentVersion, StoredFile
from tasks.saying import say
from tasks.storage import Storage, Stored, key_of

#: The lane that makes thumbnails.
LANE: Final = "thumbnail"
#: Where in the storage the board's files are.
PURPOSE: Final = "board"
#: A PDF says that it is one within its first kilobyte.
_HEAD: Final = 1_024
_MAGIC: Final = b"%PDF-"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is in the storage, and reserved until a row needs it."""

    congregation_id: UUID
    key: str
    stored: Stored
    media_type: str = PDF


def upload_pdf(
    begin: Begin,
    storage: Storage,
    congregation_id: UUID,
    stream: BinaryIO,
    *,
    limit: int,
    now: datetime,
) -> Upload:
    """Put an uploaded PDF into the storage; no transaction may be open.

    Args:
        stream: can seek; it is read from its start.
        limit: bytes.

    Raises:
        InvalidInput: it is empty, no PDF or too large.
        StorageFailed: it could not be written.
    """
    check_pdf(stream)
    return put(begin, storage, congregation_id, stream, limit=limit, now=now)


def check_pdf(stream: BinaryIO) -> None:
    """Look whether a stream is a PDF by its first bytes, and go back to its start.

    Raises:
        InvalidInput: it is empty, or no PDF.
    """
    stream.seek(0)
    head = stream.read(_HEAD)
    stream.seek(0)
    if not head:
        raise InvalidInput("file_empty", say("The file is empty."), field="file")
    if _MAGIC not in head:
        raise InvalidInput(
            "not_a_pdf",
            say("This is not a PDF. The board takes PDFs only."),
            field="file",
        )


def put(
    begin: Begin,
    storage: Storage,
    congregation_id: UUID,
    stream: BinaryIO,
    *,
    limit: int,
    now: datetime,
) -> Upload:
    """Put a PDF that was looked at into the storage; no transaction may be open."""
    key = key_of(congregation_id, PURPOSE, f"{new_id()}.pdf")
    with begin() as session:
        loose_files.reserve(session, congregation_id, key, now)
    return Upload(congregation_id, key, storage.put(key, stream, limit=limit))


def adopt(session: Session, upload: Upload, now: datetime) -> StoredFile:
    """Return the row of an upload's content, which is locked; a new one if need be.

    The caller lets a document or version point to it in the same transaction.
    """
    found = _locked(session, *_same_content(upload))
    if found is None:
        found = _added(session, upload, now)
    if found.key != upload.key:
        loose_files.drop(session, upload.key, now)
    return found


def release(session: Session, file_id: UUID, now: datetime) -> None:
    """Remove a file that no document and no version needs any more.

    Call it after the rows that needed it are gone, or point elsewhere.
    """
    file = _locked(session, StoredFile.id == file_id)
    if file is None or _is_needed(session, file_id):
        return
    for key in (file.key, file.thumbnail_key):
        if key is not None:
            loose_files.let_go(session, file.congregation_id, key, now)
    session.delete(file)
    session.flush()


def _added(session: Session, upload: Upload, now: datetime) -> StoredFile:
    row = StoredFile(
        congregation_id=upload.congregation_id,
        sha256=upload.stored.sha256,
        size=upload.stored.size,
        media_type=upload.media_type,
        key=upload.key,
        created_at=now,
        run_at=now,
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:  # the same content was added by somebody else just now
        found = _locked(session, *_same_content(upload))
        if found is None:
            raise  # and removed again at once: too odd to be guessed at
        return found
    loose_files.keep(session, upload.key, now)
    doorbell.ask(session, LANE)
    return row


def _same_content(upload: Upload) -> tuple[ColumnElement[bool], ...]:
    return (
        StoredFile.congregation_id == upload.congregation_id,
        StoredFile.sha256 == upload.stored.sha256,
    )


def _locked(session: Session, *which: ColumnElement[bool]) -> StoredFile | None:
    return session.scalars(
        select(StoredFile)
        .where(*which)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).first()


def _is_needed(session: Session, file_id: UUID) -> bool:
    of_document = select(Document.id).where(Document.file_id == file_id).exists()
    of_version = (
        select(DocumentVersion.number)
        .where(DocumentVersion.file_id == file_id)
        .exists()
    )
    return bool(session.scalar(select(or_(of_document, of_version))))
