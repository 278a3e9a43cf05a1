"""Files in a folder of this machine; what is needed by several machines is not here."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from tasks.saying import say
from tasks.storage.base import (
    ABANDONED,
    FileMissing,
    StorageFailed,
    Stored,
    checked,
    checked_prefix,
)
from tasks.storage.limiting import copy

#: Files on their way in; no key begins with a dot.
_ARRIVING: Final = ".arriving"
#: So many times in a row a folder may be removed while a file is about to get into it.
_RACES_MAX: Final = 20


class LocalStorage:
    """A folder: a key is a path in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arriving = folder / _ARRIVING

    @property
    def title(self) -> str:
        """Where the files are, for operators."""
        return f"folder {self._folder}"

    def put(self, key: str, stream: BinaryIO, *, limit: int) -> Stored:
        """Write beside, force it to the disk, and rename: it is whole or not there."""
        target = self._path(key)
        with _as_failures():
            self._arriving.mkdir(mode=0o700, parents=True, exist_ok=True)
            coming = self._arriving / secrets.token_hex(16)
            try:
                stored = _write(coming, stream, limit)
                _move_in(coming, target, self._folder)
            finally:
                coming.unlink(missing_ok=True)
        return stored

    @contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        """Read a file from its start."""
        with self._opened(key) as stream:
            yield stream

    @contextmanager
    def at_hand(self, key: str) -> Iterator[Path]:
        """Give the file itself."""
        with self._opened(key):
            yield self._path(key)

    def size(self, key: str) -> int | None:
        """Return how many bytes a file has; ``None``: there is none."""
        try:
            return self._path(key).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def delete(self, key: str) -> None:
        """Remove a file, and its folder when that is empty now."""
        path = self._path(key)
        with _as_failures():
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # others are in it, or it is gone
            path.parent.rmdir()

    def keys(self, prefix: str, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        """Return keys that begin with ``prefix``, in their order, past ``after``."""
        start = self._folder / checked_prefix(prefix)
        found = (
            str(path.relative_to(self._folder))
            for path in start.rglob("*")
            if path.is_file() and self._arriving not in path.parents
        )
        return sorted(key for key in found if key > after)[:limit]

    def check(self) -> None:
        """Write and remove a small file."""
        with _as_failures():
            self._arriving.mkdir(mode=0o700, parents=True, exist_ok=True)
            probe = self._arriving / secrets.token_hex(16)
            probe.write_bytes(b"x")
            probe.unlink()

    def tidy(self) -> None:
        """Remove what processes that died over a day ago had only begun to write."""
        before = time.time() - ABANDONED.total_seconds()
        with _as_failures():
            for path in self._arriving.glob("*"):
                with contextlib.suppress(FileNotFoundError):  # it has just arrived
                    if path.stat().st_mtime < before:
                        path.unlink()

    def _opened(self, key: str) -> BinaryIO:
        """Open a file; somebody may be removing it at this moment."""
        with _as_failures():
            try:
                return self._path(key).open("rb")
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                raise FileMissing(key) from None

    def _path(self, key: str) -> Path:
        return self._folder / checked(key)


def _write(path: Path, stream: BinaryIO, limit: int) -> Stored:
    with path.open("xb") as file:
        stored = copy(stream, file, limit=limit)
        file.flush()
        os.fsync(file.fileno())
    return stored


def _move_in(coming: Path, target: Path, top: Path) -> None:
    """Give a file its place; who removes the last one beside it removes the folder."""
    for race in range(1, _RACES_MAX + 1):
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            coming.replace(target)
            break
        except (FileExistsError, FileNotFoundError):  # it was there a moment ago
            if race == _RACES_MAX:
                raise
    for folder in target.parents:  # they may be as new as the file
        _force_names(folder)
        if folder == top.parent:
            break


def _force_names(folder: Path) -> None:
    """Let the new name outlive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _as_failures() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StorageFailed(
            say("The folder of the files cannot be used: %(why)s.", why=why)
        ) from error
