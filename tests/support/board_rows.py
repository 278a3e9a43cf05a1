"""Files, sections and documents of a board, and drawers that need no tool."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.documents.rendering.child import png
from tasks.congregation.documents.rendering.pictures import Picture
from tasks.congregation.documents.rendering.renderer import Refused
from tasks.models import (
    BoardSection,
    Document,
    DocumentVersion,
    StoredFile,
    ThumbnailState,
)
from tasks.storage import Storage, key_of

PICTURE = Picture(png(2, 3, b"\xff" * 18, 6), 2, 3)


class FakeRenderer:
    """Answers what it was told to, and remembers what it was given."""

    title = "a fake"

    def __init__(
        self, answer: Picture | Refused | Callable[[], Picture | Refused] = PICTURE
    ) -> None:
        self._answer = answer
        self.given: list[bytes] = []

    def render(self, path: Path) -> Picture | Refused:
        self.given.append(path.read_bytes())
        return self._answer() if callable(self._answer) else self._answer


def stored_file(
    session: Session, of: UUID, content: bytes, storage: Storage, **values: Any
) -> StoredFile:
    """Add a file, and put it into the storage."""
    digest = hashlib.sha256(content).digest()
    key = key_of(of, "board", f"{digest.hex()[:12]}.pdf")
    storage.put(key, io.BytesIO(content), limit=len(content))
    row = StoredFile(
        congregation_id=of, sha256=digest, size=len(content), key=key, **values
    )
    session.add(row)
    session.flush()
    return row


def document(session: Session, of: UUID, file: StoredFile, **values: Any) -> Document:
    """Add a document of one version, in a section of its own unless one is given."""
    if "section_id" not in values:
        section = BoardSection(congregation_id=of, name=f"Section {file.key[-16:]}")
        session.add(section)
        session.flush()
        values["section_id"] = section.id
    title = values.setdefault("title", "Roster")
    row = Document(
        congregation_id=of,
        file_id=file.id,
        search_title=title.casefold(),
        filename="roster.pdf",
        **values,
    )
    session.add(row)
    session.flush()
    session.add(
        DocumentVersion(
            congregation_id=of,
            document_id=row.id,
            number=1,
            file_id=file.id,
            filename="roster.pdf",
            uploaded_by="operator@example.org",
        )
    )
    session.flush()
    return row


def on_board(session: Session, of: UUID, mark: str, storage: Storage) -> dict[str, str]:
    """Add a document with a thumbnail, marked everywhere; returns its pages' ids."""
    content = f"%PDF-{mark}".encode()
    file = stored_file(
        session,
        of,
        content,
        storage,
        thumbnail_state=ThumbnailState.READY,
        thumbnail_key=key_of(of, "board", "first.png"),
        thumbnail_width=PICTURE.width,
        thumbnail_height=PICTURE.height,
    )
    storage.put(file.thumbnail_key or "", io.BytesIO(PICTURE.data), limit=9_999)
    section = BoardSection(congregation_id=of, name=mark)
    session.add(section)
    session.flush()
    row = document(session, of, file, title=mark, section_id=section.id)
    return {
        "document_id": str(row.id),
        "number": "1",
        "file_id": str(file.id),
        "section_id": str(section.id),
    }
