"""What operators do to documents: add, change, replace, take back, remove."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from tasks.congregation.documents import files
from tasks.congregation.documents.drafts import DocumentDraft, clean_filename, fill
from tasks.congregation.documents.files import Upload
from tasks.congregation.notifications import News, notify
from tasks.errors import Conflict, NotFound
from tasks.models.document import Document, DocumentVersion
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say


def add_document(
    session: Session,
    upload: Upload,
    filename: str,
    draft: DocumentDraft,
    actor: Actor,
    now: datetime,
) -> Document:
    """Put a document on the board.  The caller commits.

    Raises:
        InvalidInput: a field cannot be accepted.
        Conflict: the upload took so long that its file may be gone.
    """
    row = Document(
        congregation_id=upload.congregation_id,
        filename=clean_filename(filename),
        created_at=now,
        updated_at=now,
    )
    fill(session, row, draft)
    row.file_id = files.adopt(session, upload, now).id
    session.add(row)
    session.flush()
    _add_version(session, row, actor, now)
    _note(session, actor, row, "created", f"Put “{row.title}” on the board.")
    _tell(session, row, "document.created", now)
    return row


def change_document(
    session: Session,
    document_id: UUID,
    draft: DocumentDraft,
    actor: Actor,
    now: datetime,
    *,
    version: int,
) -> Document:
    """Change a document's fields.  The caller commits.

    Args:
        version: what the operator saw.

    Raises:
        NotFound, InvalidInput: there is none, or a field cannot be accepted.
        Conflict: somebody else changed it meanwhile.
    """
    row = _locked(session, document_id)
    if row.version != version:
        raise Conflict(
            "changed_meanwhile",
            say("Somebody else has changed the document meanwhile. Look at it again."),
        )
    fill(session, row, draft)
    _changed(row, now)
    _note(session, actor, row, "updated", f"Changed “{row.title}”.")
    _tell(session, row, "document.updated", now)
    return row


def replace_file(
    session: Session,
    document_id: UUID,
    upload: Upload,
    filename: str,
    actor: Actor,
    now: datetime,
) -> Document:
    """Give a document another file; the one before stays as a version.

    Raises:
        NotFound: there is no such document in the upload's congregation.
        Conflict: it is the file that it has already.
    """
    row = _locked(session, document_id)
    if row.congregation_id != upload.congregation_id:
        raise _unknown()
    file = files.adopt(session, upload, now)
    _next_version(session, row, file.id, clean_filename(filename), actor, now)
    _note(session, actor, row, "replaced", f"Replaced the file of “{row.title}”.")
    return row


def take_back(
    session: Session, document_id: UUID, number: int, actor: Actor, now: datetime
) -> Document:
    """Make an earlier version's file the current one; it becomes a new version.

    Raises:
        NotFound: there is no such document or version.
        Conflict: it is the current one.
    """
    row = _locked(session, document_id)
    old = session.get(DocumentVersion, (document_id, number))
    if old is None:
        raise NotFound("unknown_version", say("There is no such version."))
    _next_version(session, row, old.file_id, old.filename, actor, now)
    _note(
        session, actor, row, "replaced", f"Took back version {number} of “{row.title}”."
    )
    return row


def delete_document(
    session: Session, document_id: UUID, actor: Actor, now: datetime
) -> Document:
    """Remove a document with all its versions.  The caller commits.

    Files that nothing else needs are removed after the commit.

    Raises:
        NotFound: there is no such document.
    """
    row = _locked(session, document_id)
    of = DocumentVersion.document_id == document_id
    needed = set(session.scalars(select(DocumentVersion.file_id).where(of)))
    session.execute(
        delete(DocumentVersion).where(of).execution_options(synchronize_session=False)
    )
    session.delete(row)
    session.flush()
    for file_id in sorted(needed | {row.file_id}):  # one order: no two wait in a ring
        files.release(session, file_id, now)
    _note(session, actor, row, "deleted", f"Removed “{row.title}” from the board.")
    _tell(session, row, "document.deleted", now)
    return row


def _next_version(
    session: Session,
    row: Document,
    file_id: UUID,
    filename: str,
    actor: Actor,
    now: datetime,
) -> None:
    if row.file_id == file_id:
        raise Conflict("same_file", say("The document has this very file already."))
    row.file_id, row.filename = file_id, filename
    row.number += 1
    _changed(row, now)
    _add_version(session, row, actor, now)
    _tell(session, row, "document.updated", now)


def _add_version(session: Session, row: Document, actor: Actor, now: datetime) -> None:
    session.add(
        DocumentVersion(
            congregation_id=row.congregation_id,
            document_id=row.id,
            number=row.number,
            file_id=row.file_id,
            filename=row.filename,
            uploaded_by=actor.name[:255],
            created_at=now,
        )
    )
    session.flush()


def _changed(row: Document, now: datetime) -> None:
    row.version += 1
    row.updated_at = now


def _locked(session: Session, document_id: UUID) -> Document:
    row = session.scalars(
        select(Document)
        .where(Document.id == document_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).first()
    if row is None:
        raise _unknown()
    return row


def _unknown() -> NotFound:
    return NotFound(
        "unknown_document", say("There is no such document, or not any more.")
    )


def _note(
    session: Session, actor: Actor, row: Document, verb: str, summary: str
) -> None:
    subject = Subject("document", str(row.id), row.congregation_id)
    record(session, actor, f"document.{verb}", subject, summary)


def _tell(session: Session, row: Document, what: str, now: datetime) -> None:
    notify(session, row.congregation_id, News(what, row.id, {"title": row.title}), now)
