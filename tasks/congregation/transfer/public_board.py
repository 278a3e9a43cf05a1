"""The document board of the public layout: its files are known by name there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sized
from typing import Any, Final
from zoneinfo import ZoneInfo

from tasks.congregation.transfer.contents import Content, content_of
from tasks.congregation.transfer.layouts import Lines, Raw
from tasks.congregation.transfer.public_values import local_day
from tasks.congregation.transfer.reading import Archive
from tasks.congregation.transfer.refusing import ArchiveRefused
from tasks.congregation.transfer.rows import OLD_MAX
from tasks.saying import mark
from tasks.saying.kept import kept

_DOCUMENTS: Final = "board-documents"
_VERSIONS: Final = "board-document-versions"
#: Documents that are kept in mind, for the rows of their versions.
DOCUMENTS_MAX: Final = 100_000
_FOLDER: Final = "files/board/"
_NO_FILE: Final = mark(
    "documents or versions are left out: the archive has no PDF of them."
)


class Board:
    """Documents, versions and files; each version of theirs is an older file."""

    entities: Final = ("stored-files", "documents", "document-versions")

    def __init__(
        self,
        archive: Archive,
        lines: Lines,
        zone: ZoneInfo,
        left: Counter[str],
    ) -> None:
        self._archive = archive
        self._lines = lines
        self._zone = zone
        self._left = left
        self._contents: dict[str, Content] = {}  # name of the file -> what it is
        self._entries: dict[str, str] = {}  # SHA-256 -> entry
        self._n_versions: Counter[str] = Counter()  # by document
        #: Of documents that have a file: its name, and when they were made.
        self._documents: dict[str, tuple[str, object]] = {}

    def rows(self, name: str) -> Iterator[Raw]:
        """Yield the rows of an entity of the board; files come first."""
        if name == "stored-files":
            return self._files()
        return self._rows_of_documents() if name == "documents" else self._versions()

    def entry(self, sha256: str) -> str:
        """Return the name of the entry that has a content."""
        return self._entries[sha256]

    def _files(self) -> Iterator[Raw]:
        """Yield each content once; also counts the versions of each document."""
        for file in (_DOCUMENTS, _VERSIONS):
            for raw in self._lines.objects(file):
                said = raw.values
                if said is None:
                    continue  # told where its rows are read
                if file == _VERSIONS:
                    self._n_versions[str(said.get("documentId"))[:OLD_MAX]] += 1
                    _refuse_many(self._n_versions)
                name = _base(said.get("uri"))
                if name is None or name in self._contents:
                    continue
                found = self._content(name)
                if found and found.sha256 not in self._entries:
                    self._entries[found.sha256] = found.entry
                    yield raw._replace(
                        values={
                            "id": found.sha256,
                            "sha256": found.sha256,
                            "size": found.size,
                        }
                    )

    def _content(self, name: str) -> Content | None:
        entry = _FOLDER + name
        found = (
            content_of(self._archive, entry) if entry in self._archive.names else None
        )
        if found:
            self._contents[name] = found
        return found

    def _rows_of_documents(self) -> Iterator[Raw]:
        for raw in self._lines.objects(_DOCUMENTS):
            said = raw.values
            if said is None:
                yield raw
                continue
            name = _base(said.get("uri"))
            if name not in self._contents:
                self._left[_NO_FILE] += 1
                continue
            old = str(said.get("id"))[:OLD_MAX]
            self._keep(old, name or "", said.get("createdAt"))
            yield raw._replace(
                values={
                    "id": said.get("id"),
                    "section_id": said.get("sectionId"),
                    "title": said.get("title"),
                    "file_id": self._contents[name].sha256,
                    "filename": name,
                    "number": self._n_versions[old] + 1,
                    "visible_from": local_day(said.get("visibleFrom"), self._zone),
                    "visible_until": local_day(said.get("visibleUntil"), self._zone),
                    "is_highlighted": said.get("isHighlighted", False),
                    "position": said.get("order") or 0,
                    "created_at": said.get("createdAt"),
                }
            )

    def _versions(self) -> Iterator[Raw]:
        """Yield the older files by age, and the current one of each document."""
        n_seen: Counter[str] = Counter()
        for raw in self._lines.objects(_VERSIONS):
            said = raw.values
            if said is None:
                yield raw
                continue
            old = str(said.get("documentId"))[:OLD_MAX]
            name = _base(said.get("uri"))
            if old not in self._documents or name not in self._contents:
                self._left[_NO_FILE] += 1
                continue
            n_seen[old] += 1
            at = said.get("createdAt")
            yield raw._replace(values=self._version(at, old, name, n_seen[old]))
        for line, (old, (name, at)) in enumerate(self._documents.items(), 1):
            values = self._version(at, old, name, self._n_versions[old] + 1)
            yield Raw(f"{_DOCUMENTS}.ndjson", line, values)

    def _keep(self, old: str, name: str, at: object) -> None:
        """Keep in mind what the row of the current version is made of."""
        self._documents[old] = name, at if isinstance(at, str) else None
        _refuse_many(self._documents)

    def _version(self, at: object, old: str, name: str, number: int) -> dict[str, Any]:
        return {
            "document_id": old,
            "number": number,
            "file_id": self._contents[name].sha256,
            "filename": name,
            "uploaded_by": "",
            "created_at": at,
        }


def _refuse_many(some: Sized) -> None:
    if len(some) > DOCUMENTS_MAX:
        raise ArchiveRefused(
            "archive_too_large",
            kept(
                "The archive has more than %(max)s documents.", max=str(DOCUMENTS_MAX)
            ),
        )


def _base(uri: object) -> str | None:
    """Return the last part of a path; None: there is none."""
    if not isinstance(uri, str):
        return None
    return uri.rpartition("/")[2][:200] or None
