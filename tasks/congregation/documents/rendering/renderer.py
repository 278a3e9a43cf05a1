"""Which tool renders, and what became of it: a picture, or the reason for none."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Final, Protocol

from tasks.congregation.documents.rendering.pictures import (
    BYTES_MAX,
    Picture,
    read_png,
)
from tasks.models.document import ThumbnailReason

#: How long one file may take, by the clock on the wall.
PATIENCE: Final = timedelta(seconds=20)
PDFIUM: Final = "pdfium"
_CHILD: Final = Path(__file__).with_name("child.py")
#: As much of a tool's complaints is read, in bytes from their end.
_TAIL: Final = 4_096
#: Signals that the limits send, and those of a tool that ran out of memory.
_TOO_COMPLEX: Final = frozenset(
    {signal.SIGXCPU, signal.SIGXFSZ, signal.SIGABRT, signal.SIGSEGV, signal.SIGTRAP}
    | {signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
)
_R = ThumbnailReason
#: What another try would not change: the file itself is the reason.
PERMANENT: Final = frozenset({_R.PASSWORD, _R.BROKEN, _R.NO_PAGES, _R.TOO_COMPLEX})
#: Poppler's complaints, in small letters, that tell why.
_COMPLAINTS: Final = (
    ("incorrect password", _R.PASSWORD),
    ("unsupported version/revision", _R.PASSWORD),
    ("wrong page range", _R.NO_PAGES),
    ("out of memory", _R.TOO_COMPLEX),
    ("bad_alloc", _R.TOO_COMPLEX),
)


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no picture."""

    reason: ThumbnailReason

    @property
    def is_permanent(self) -> bool:
        """Whether the file itself is the reason, so that no other try can help."""
        return self.reason in PERMANENT


class Renderer(Protocol):
    """Makes a picture of a PDF's first page."""

    @property
    def title(self) -> str:
        """Which tool it is, for operators; empty: there is none."""

    def render(self, path: Path) -> Picture | Refused:
        """Return a PNG whose longest side has at most ``SIDE`` pixels."""


@dataclass(frozen=True, slots=True)
class ChildRenderer:
    """Renders in a child process that is killed with all of its own when time is up."""

    #: An absolute path of pdftoppm, or PDFIUM; empty: none is installed.
    tool: str = ""
    patience: timedelta = PATIENCE

    @property
    def title(self) -> str:
        """Which tool it is, for operators."""
        return self.tool

    def render(self, path: Path) -> Picture | Refused:
        """Return a PNG whose longest side has at most ``SIDE`` pixels."""
        if not self.tool:
            return Refused(_R.TOOL_MISSING)
        # Files without names: nothing is left behind, however this process ends.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
            status = self._run(path, out, complaints)
            if status is None:
                return Refused(_R.TIMED_OUT)
            picture = read_png(_read(out, BYTES_MAX + 1))
            if status == 0 and picture is not None:
                return picture
            return Refused(_why(status, _tail(complaints)))

    def _run(self, path: Path, out: IO[bytes], complaints: IO[bytes]) -> int | None:
        """Return the child's status; ``None``: it took too long."""
        child = subprocess.Popen(  # noqa: S603  # our own file, no shell
            [sys.executable, "-I", _CHILD, str(os.getpid()), self.tool, path.resolve()],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=complaints,
            cwd="/",
            env={"LANG": "C.UTF-8", "PATH": os.defpath},
            start_new_session=True,
        )
        try:
            return child.wait(self.patience.total_seconds())
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):  # the whole group has ended
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def find_renderer() -> ChildRenderer:
    """Return the renderer of this machine: Poppler's, else PDFium's, else none."""
    if tool := shutil.which("pdftoppm"):
        return ChildRenderer(str(Path(tool).resolve()))
    has_pdfium = importlib.util.find_spec("pypdfium2") is not None
    return ChildRenderer(PDFIUM if has_pdfium else "")


def _why(status: int, complaints: str) -> ThumbnailReason:
    if status < 0:
        return _R.TOO_COMPLEX if -status in _TOO_COMPLEX else _R.TOOL_FAILED
    _, found, word = complaints.rpartition("reason:")
    if found and word.strip() in set(_R):
        return _R(word.strip())
    small = complaints.lower()
    for words, reason in _COMPLAINTS:
        if words in small:
            return reason
    # A tool that does not even start complains through our child's traceback.
    if "traceback" in small or "error while loading" in small:
        return _R.TOOL_FAILED
    return _R.BROKEN


def _read(file: IO[bytes], most: int) -> bytes:
    file.seek(0)
    return file.read(most)


def _tail(file: IO[bytes]) -> str:
    length = file.seek(0, os.SEEK_END)
    file.seek(max(0, length - _TAIL))
    return file.read().decode("utf-8", "replace")
