"""Archives that are not read at all, each with a sentence that says why."""

from __future__ import annotations

from typing import Final

from tasks.long_jobs import CannotDo
from tasks.saying.kept import kept

#: Names from archives are shown to this length, in characters.
_SHOWN: Final = 80


class ArchiveRefused(CannotDo):
    """The archive is broken, hostile, or none; nothing of it is used."""


def shown(name: str) -> str:
    """Return a name from an archive as a page may show it.

    >>> shown("a" * 100)[-3:], shown("x\\ny")
    ('aa…', 'x\\\\ny')
    """
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return printable if len(printable) <= _SHOWN else printable[: _SHOWN - 1] + "…"


def size_words(size: int) -> str:
    """Return a size as people read it.

    >>> size_words(5_000_000), size_words(2_000_000_000), size_words(12)
    ('5 MB', '2 GB', '12 bytes')
    """
    if size >= 1_000_000_000:
        return kept("%(n)s GB", n=f"{size / 1_000_000_000:.3g}")
    if size >= 1_000_000:
        return kept("%(n)s MB", n=f"{size / 1_000_000:.3g}")
    if size >= 1_000:
        return kept("%(n)s kB", n=f"{size / 1_000:.3g}")
    return kept("%(n)s bytes", n=str(size))
