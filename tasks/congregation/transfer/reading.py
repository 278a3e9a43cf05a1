"""Reading an archive as a stream: nothing is unpacked to a file or held as a whole."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from tasks.congregation.transfer.directory import check_end, check_entries
from tasks.congregation.transfer.manifest import (
    MANIFEST,
    MANIFEST_MAX,
    Manifest,
    read_manifest,
)
from tasks.congregation.transfer.refusing import ArchiveRefused, shown
from tasks.saying import mark
from tasks.saying.kept import kept

#: Bytes that are unpacked at once.
PIECE: Final = 1 << 18
#: Bytes of one row; a perimeter may have two million.
LINE_MAX: Final = 4_000_000
#: Told after every piece, with the bytes that were unpacked.
Heard = Callable[[int], None]

#: What ``zipfile`` raises for a broken entry; the fourth is its word for a way of
#: packing that it does not know.
_BROKEN: Final = (BadZipFile, zlib.error, EOFError, NotImplementedError, OverflowError)


class Archive:
    """An archive that passed the looks at its list of entries, and its manifest."""

    def __init__(self, file: ZipFile, manifest: Manifest) -> None:
        self._file = file
        self.manifest = manifest
        self._entries = {each.orig_filename: each for each in _files(file)}

    @property
    def names(self) -> frozenset[str]:
        """The names of all entries but the manifest."""
        return frozenset(self._entries) - {MANIFEST}

    @property
    def size(self) -> int:
        """The bytes that all entries unpack to."""
        return sum(entry.file_size for entry in self._entries.values())

    @property
    def n_data_bytes(self) -> int:
        """The bytes that the rows unpack to."""
        return sum(
            entry.file_size
            for name, entry in self._entries.items()
            if name.startswith("data/")
        )

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """Read one entry; the stream never gives more bytes than the list claims.

        Raises:
            ArchiveRefused: it is broken.
        """
        with _as_refusals(name), self._file.open(self._entries[name]) as stream:
            yield stream

    def verify(self, heard: Heard) -> None:
        """Read every entry to its end, and compare it with the manifest.

        Raises:
            ArchiveRefused: one is missing, too much, or not as the manifest says.
        """
        said = self.manifest.entries
        if self.manifest.is_ours:
            for name in sorted(self.names - set(said)):
                raise ArchiveRefused(
                    "archive_entry",
                    kept(
                        "The manifest does not know the entry “%(name)s”.",
                        name=shown(name),
                    ),
                )
            for name in sorted(set(said) - self.names):
                raise ArchiveRefused(
                    "archive_entry",
                    kept("The entry “%(name)s” is missing.", name=shown(name)),
                )
        for name in sorted(self.names):
            size, digest = self._digest(name, heard)
            entry = said.get(name)
            if entry and (entry.size, entry.sha256) != (size, digest):
                raise ArchiveRefused(
                    "archive_digest",
                    kept(
                        "The entry “%(name)s” is not what the manifest says: its size "
                        "or SHA-256 differs. Copy the archive again.",
                        name=shown(name),
                    ),
                )

    def lines(self, entity: str) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of each line of an entity; blank ones are left out.

        Raises:
            ArchiveRefused: a line is too long, or the entry is broken.
        """
        name = f"data/{entity}.ndjson"
        if name not in self._entries:
            return
        with self.opened(name) as raw, io.BufferedReader(raw, PIECE) as stream:  # type: ignore[type-var]  # it has all that is needed of a raw stream
            number = 0
            while line := stream.readline(LINE_MAX + 1):
                number += 1
                if len(line) > LINE_MAX:
                    raise ArchiveRefused(
                        "archive_line",
                        kept(
                            "Line %(line)s of %(name)s is longer than %(max)s bytes.",
                            line=str(number),
                            name=name,
                            max=str(LINE_MAX),
                        ),
                    )
                if line.strip():
                    yield number, line

    def _digest(self, name: str, heard: Heard) -> tuple[int, str]:
        digest, size = hashlib.sha256(), 0
        with self.opened(name) as stream:
            while piece := stream.read(PIECE):
                size += len(piece)
                digest.update(piece)
                heard(len(piece))
        if size != self._entries[name].file_size:
            raise _broken_entry(name)
        return size, digest.hexdigest()


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive, look at its list of entries, and read its manifest.

    Raises:
        ArchiveRefused: it is hostile, broken, or of a version that is not read here.
    """
    with path.open("rb") as raw:
        check_end(raw)
        try:
            file = ZipFile(raw)
        except (*_BROKEN, ValueError) as error:
            raise ArchiveRefused(
                "archive_not_zip", mark("The list of the archive's entries is broken.")
            ) from error
        with file:
            check_entries(path, file.infolist(), file.start_dir)
            yield Archive(file, _manifest(file))


def _manifest(file: ZipFile) -> Manifest:
    entry = next((e for e in _files(file) if e.orig_filename == MANIFEST), None)
    if entry is None:
        raise ArchiveRefused(
            "archive_manifest",
            kept(
                "The archive has no %(file)s. Choose a file that was made by an "
                "export.",
                file=MANIFEST,
            ),
        )
    if entry.file_size > MANIFEST_MAX:
        raise ArchiveRefused(
            "archive_manifest", kept("The %(file)s is too large.", file=MANIFEST)
        )
    with _as_refusals(MANIFEST), file.open(entry) as stream:
        return read_manifest(stream.read(MANIFEST_MAX))


def _files(file: ZipFile) -> Iterator[ZipInfo]:
    return (each for each in file.infolist() if not each.is_dir())


@contextmanager
def _as_refusals(name: str) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise _broken_entry(name) from error


def _broken_entry(name: str) -> ArchiveRefused:
    return ArchiveRefused(
        "archive_broken",
        kept(
            "The entry “%(name)s” is damaged. Copy the archive again.", name=shown(name)
        ),
    )
