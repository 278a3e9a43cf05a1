"""Writing an archive as a stream: row by row, file by file, the manifest last."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, Any, BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from tasks.congregation.transfer.manifest import MANIFEST, OUR_APP, OUR_VERSION

_PIECE: Final = 1 << 18
#: Readable by its owner only, wherever somebody unpacks it.
_MODE: Final = 0o100600 << 16


class ArchiveWriter:
    """An archive of our layout on its way to a file."""

    def __init__(self, target: BinaryIO, now: datetime) -> None:
        self._file = ZipFile(target, "w", ZIP_DEFLATED)
        self._now = now.astimezone(UTC)
        self._entries: dict[str, dict[str, Any]] = {}
        self.counts: dict[str, int] = {}

    def rows(self, entity: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write the rows of one entity, one JSON object a line."""
        name, n = f"data/{entity}.ndjson", 0
        with self._entry(name, ZIP_DEFLATED) as write:
            for row in rows:
                write(_json(row) + b"\n")
                n += 1
        self.counts[entity] = n

    def file(self, sha256: str, stream: IO[bytes]) -> None:
        """Write one file; PDFs and pictures are packed already, so they are stored."""
        with self._entry(f"files/{sha256}", ZIP_STORED) as write:
            while piece := stream.read(_PIECE):
                write(piece)

    def finish(self, source: Mapping[str, str], options: Mapping[str, bool]) -> None:
        """Write the manifest and the list of entries."""
        manifest = {
            "version": OUR_VERSION,
            "exportDate": self._now.isoformat(timespec="seconds").replace(
                "+00:00", "Z"
            ),
            "sourceApp": OUR_APP,
            "source": dict(source),
            "options": dict(options),
            "entityCounts": self.counts,
            "entries": self._entries,
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
        self._file.writestr(self._info(MANIFEST, ZIP_DEFLATED), text)
        self._file.close()

    @contextmanager
    def _entry(self, name: str, method: int) -> Iterator[_Write]:
        with self._file.open(self._info(name, method), "w", force_zip64=True) as target:
            write = _Write(target)
            yield write
        self._entries[name] = {"size": write.size, "sha256": write.digest.hexdigest()}

    def _info(self, name: str, method: int) -> ZipInfo:
        info = ZipInfo(name, self._now.timetuple()[:6])
        info.compress_type = method
        info.external_attr = _MODE
        return info


class _Write:
    """Writes to an entry, and knows what went by."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self.size = 0
        self.digest = hashlib.sha256()

    def __call__(self, piece: bytes) -> None:
        self._target.write(piece)
        self.size += len(piece)
        self.digest.update(piece)


def _json(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
