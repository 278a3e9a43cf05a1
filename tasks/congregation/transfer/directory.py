"""What an archive says of itself, looked at before anything in it is unpacked.

``zipfile`` believes most of it: it reads the whole list of entries into memory, keeps
the last of two entries of one name, and leaves entries that overlap alone.
"""

from __future__ import annotations

import re
import stat
import struct
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

from tasks.congregation.transfer.refusing import ArchiveRefused, shown, size_words
from tasks.saying import mark
from tasks.saying.kept import kept

#: Entries that an archive may have, with one for every file.
ENTRIES_MAX: Final = 20_000
#: Bytes of the list of entries; ``zipfile`` reads it whole.
DIRECTORY_MAX: Final = 8_000_000
#: Bytes that one entry may unpack to: rows of one table, and one file.
DATA_MAX: Final = 2_000_000_000
FILE_MAX: Final = 200_000_000
#: Bytes that all entries may unpack to.
TOTAL_MAX: Final = 6_000_000_000
#: How many times larger an entry may become: ten times what rows of a table reach.
RATIO_MAX: Final = 200
#: Smaller entries may be of any ratio: a few rows that are alike pack well.
RATIO_FROM: Final = 10_000_000

_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64: Final = struct.Struct("<4sLQL")
_LOCAL_HEADER: Final = 30  # bytes, without the name
_ENCRYPTED: Final = 0x1 | 0x40
_NESTED: Final = re.compile(r"(?i)\.(zip|unitae|carillon|7z|rar|tar|t?gz|bz2|xz)$")
_NOT_ZIP: Final = mark("This file is no ZIP archive, or its end is missing.")


def check_end(file: BinaryIO) -> None:
    """Look at the end of an archive: is it one, and is its list of a bearable size?

    Raises:
        ArchiveRefused: no.
    """
    size = file.seek(0, 2)
    tail_at = max(0, size - _END.size - 0xFFFF)
    file.seek(tail_at)
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise ArchiveRefused("archive_not_zip", _NOT_ZIP)
    end = _END.unpack_from(tail, at)
    n_entries, n_bytes = end[4], end[5]
    if 0xFFFF in end[3:5] or 0xFFFFFFFF in end[5:7]:
        n_entries, n_bytes = _long_end(file, tail_at + at)
    if n_entries > ENTRIES_MAX or n_bytes > DIRECTORY_MAX:
        raise ArchiveRefused(
            "archive_too_large",
            kept(
                "The archive has %(n)s entries; %(max)s are allowed.",
                n=str(n_entries),
                max=str(ENTRIES_MAX),
            ),
        )


def _long_end(file: BinaryIO, end_at: int) -> tuple[int, int]:
    """Return the numbers of entries and of their bytes in an archive of ZIP64."""
    try:
        file.seek(end_at - _LOCATOR64.size)
        sign, _, at, _ = _LOCATOR64.unpack(file.read(_LOCATOR64.size))
        file.seek(at)
        end = _END64.unpack(file.read(_END64.size))
    except (OSError, ValueError, OverflowError, struct.error) as error:
        raise ArchiveRefused("archive_not_zip", _NOT_ZIP) from error
    if sign != b"PK\6\7" or end[0] != b"PK\6\6":
        raise ArchiveRefused("archive_not_zip", _NOT_ZIP)
    return end[7], end[8]


def check_entries(path: Path, entries: Sequence[ZipInfo], start_at: int) -> None:
    """Look at the list of entries; the names, kinds and sizes that it claims.

    Args:
        path: the archive, for its size.
        start_at: where the list of entries begins in the file.

    Raises:
        ArchiveRefused: an entry is not as ours are, or all together are too large.
    """
    seen: set[str] = set()
    for entry in entries:
        for code, sentence in _faults(entry):
            raise ArchiveRefused(code, sentence)
        folded = unicodedata.normalize("NFC", entry.orig_filename).casefold()
        if folded in seen:
            raise ArchiveRefused(
                "archive_entry",
                kept(
                    "Two entries are called “%(name)s”.",
                    name=shown(entry.orig_filename),
                ),
            )
        seen.add(folded)
    total = sum(entry.file_size for entry in entries)
    if total > TOTAL_MAX:
        raise ArchiveRefused(
            "archive_too_large",
            kept(
                "The archive unpacks to %(size)s; %(max)s are allowed.",
                size=size_words(total),
                max=size_words(TOTAL_MAX),
            ),
        )
    _check_overlaps(entries, min(start_at, path.stat().st_size))


def _faults(entry: ZipInfo) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an entry: a code and a sentence."""
    name = shown(entry.orig_filename)
    yield from _faults_of_name(entry.orig_filename)
    yield from _faults_of_size(entry)
    if entry.flag_bits & _ENCRYPTED:
        yield (
            "archive_encrypted",
            kept(
                "The entry “%(name)s” is encrypted. Make the archive without a "
                "password.",
                name=name,
            ),
        )
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield (
            "archive_entry",
            kept("The entry “%(name)s” is a link or a device, not a file.", name=name),
        )
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        yield (
            "archive_entry",
            kept(
                "The entry “%(name)s” is packed in a way that is not read here.",
                name=name,
            ),
        )


def _faults_of_size(entry: ZipInfo) -> Iterator[tuple[str, str]]:
    name = shown(entry.orig_filename)
    is_file = entry.orig_filename.startswith("files/")
    limit = FILE_MAX if is_file else DATA_MAX
    if entry.file_size > limit:
        yield (
            "archive_too_large",
            kept(
                "The entry “%(name)s” unpacks to %(size)s; %(max)s are allowed.",
                name=name,
                size=size_words(entry.file_size),
                max=size_words(limit),
            ),
        )
    is_large = entry.file_size > RATIO_FROM
    if is_large and entry.file_size > RATIO_MAX * max(entry.compress_size, 1):
        yield (
            "archive_too_large",
            kept(
                "The entry “%(name)s” would become more than %(max)s times larger.",
                name=name,
                max=str(RATIO_MAX),
            ),
        )
    if entry.is_dir() and entry.file_size:
        yield (
            "archive_entry",
            kept(
                "The entry “%(name)s” is called a folder, and has contents.", name=name
            ),
        )


def _faults_of_name(name: str) -> Iterator[tuple[str, str]]:
    parts, told = name.rstrip("/").split("/"), shown(name)
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        yield (
            "archive_entry",
            kept("The entry “%(name)s” has an absolute path.", name=told),
        )
    if "\\" in name:
        yield (
            "archive_entry",
            kept("The entry “%(name)s” has a backslash in its name.", name=told),
        )
    if any(not char.isprintable() for char in name):
        yield (
            "archive_entry",
            kept(
                "The entry “%(name)s” has a sign in its name that cannot be seen.",
                name=told,
            ),
        )
    if ".." in parts or "." in parts or "" in parts:
        yield (
            "archive_entry",
            kept("The entry “%(name)s” would leave its folder.", name=told),
        )
    if _NESTED.search(name):
        yield (
            "archive_nested",
            kept("The entry “%(name)s” is an archive within the archive.", name=told),
        )


def _check_overlaps(entries: Sequence[ZipInfo], end: int) -> None:
    """Refuse entries that share bytes: so a small archive unpacks to a huge one."""
    by_place = sorted(entries, key=lambda each: each.header_offset)
    nexts = [each.header_offset for each in by_place[1:]] + [end]
    for entry, next_at in zip(by_place, nexts, strict=True):
        name_size = len(entry.orig_filename.encode("utf-8", "replace"))
        if (
            entry.header_offset + _LOCAL_HEADER + entry.compress_size > next_at
            or entry.header_offset + _LOCAL_HEADER + name_size > next_at
        ):
            raise ArchiveRefused(
                "archive_overlap",
                kept(
                    "The entry “%(name)s” reaches into another one.",
                    name=shown(entry.orig_filename),
                ),
            )
