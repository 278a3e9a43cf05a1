"""Archives that are refused before a row is read, each with its own sentence."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest

from tasks.congregation.transfer import directory
from tasks.congregation.transfer.reading import open_archive
from tasks.congregation.transfer.refusing import ArchiveRefused
from tests.support import archives
from tests.support.archives import as_json, manifest, write, write_raw

ROW = {"id": "1", "first_name": "Ada", "last_name": "Lamp"}
DATA = {"data/members.ndjson": archives.lines([ROW])}
GOOD = {"manifest.json": as_json(manifest(DATA)), **DATA}
Make = Callable[[Path], Any]


def _named(name: str) -> Make:
    return lambda path: write_raw(path, GOOD | {name: b"x"})


def _said(**values: Any) -> Make:
    told = manifest(DATA) | values
    return lambda path: write_raw(path, GOOD | {"manifest.json": as_json(told)})


def _twice(path: Path, second: str = "data/members.ndjson") -> None:
    with warnings.catch_warnings(), ZipFile(path, "w") as file:
        warnings.simplefilter("ignore")
        for name, text in GOOD.items():
            file.writestr(name, text)
        file.writestr(second, b"{}")


def _encrypted(path: Path) -> None:
    content = bytearray(write_raw(path, GOOD).read_bytes())
    for sign, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = content.rfind(sign)
        content[at + offset] |= 1
    path.write_bytes(content)


def _nul(path: Path) -> None:
    _named("data/membersX.ndjson")(path)
    archives.patched(path, b"data/membersX", b"data/members\0")


def _lying(path: Path) -> None:
    """Claim fewer bytes than the entry unpacks to."""
    text = archives.lines([ROW] * 50)
    data = {"data/members.ndjson": text}
    write_raw(path, {"manifest.json": as_json(manifest(data)), **data})
    old, new = struct.pack("<L", len(text)), struct.pack("<L", len(text) - 1)
    archives.patched(path, old, new)


def _overlapping(path: Path) -> None:
    """Let two entries of the list be one run of bytes."""
    content = bytearray(write_raw(path, GOOD).read_bytes())
    at = content.rfind(b"PK\1\2")
    struct.pack_into("<L", content, at + 42, 0)
    path.write_bytes(content)


def _bomb(path: Path) -> None:
    zeros = {"data/members.ndjson": b"\0" * 30_000_000}
    write_raw(path, {"manifest.json": as_json(manifest(zeros)), **zeros})


def _nested(path: Path) -> None:
    inner = io.BytesIO()
    with ZipFile(inner, "w", ZIP_DEFLATED) as file:
        file.writestr("a", b"\0" * 1000)
    write_raw(path, GOOD | {"data/inner.zip": inner.getvalue()})


def _cut(path: Path) -> None:
    content = write_raw(path, GOOD).read_bytes()
    path.write_bytes(content[:-30])


def _damaged(path: Path) -> None:
    content = bytearray(write_raw(path, GOOD, method=0).read_bytes())
    content[content.find(b"Ada")] ^= 1
    path.write_bytes(content)


HOSTILE: dict[str, tuple[Make, str, str]] = {
    "no ZIP": (lambda p: p.write_bytes(b"%PDF"), "archive_not_zip", "no ZIP"),
    "empty": (lambda p: p.write_bytes(b""), "archive_not_zip", "no ZIP"),
    "cut": (_cut, "archive_not_zip", "its end is missing"),
    "no manifest": (lambda p: write_raw(p, DATA), "archive_manifest", "no manifest"),
    "no JSON": (
        lambda p: write_raw(p, {"manifest.json": b"["}),
        "archive_manifest",
        "no JSON",
    ),
    "deep JSON": (
        lambda p: write_raw(p, {"manifest.json": b"[" * 100_000}),
        "archive_manifest",
        "no JSON",
    ),
    "newer major": (_said(version="2.0"), "archive_version", "reads 1.x"),
    "public, newer": (
        _said(version="3.0", sourceApp="unitae"),
        "archive_version",
        "1.0 to 2.6",
    ),
    "another app": (_said(sourceApp="other"), "archive_version", "“other”"),
    "no version": (_said(version="new"), "archive_manifest", "1.0"),
    "no counts": (_said(entityCounts=[]), "archive_manifest", "entityCounts"),
    "no source": (_said(source=None), "archive_manifest", "source"),
    "odd entry": (
        _said(entries={"../x": {"size": 1, "sha256": "0" * 64}}),
        "archive_manifest",
        "../x",
    ),
    "traversal": (_named("../../evil.json"), "archive_entry", "leave its folder"),
    "inner traversal": (_named("data/../x"), "archive_entry", "leave its folder"),
    "absolute": (_named("/etc/passwd"), "archive_entry", "absolute"),
    "drive": (_named("C:/x"), "archive_entry", "absolute"),
    "backslash": (_named("data\\x"), "archive_entry", "backslash"),
    "NUL": (_nul, "archive_entry", "cannot be seen"),
    "link": (archives.write_link, "archive_entry", "a link"),
    "twice": (_twice, "archive_entry", "Two entries"),
    "twice but for case": (
        lambda p: _twice(p, "DATA/members.ndjson"),
        "archive_entry",
        "Two entries",
    ),
    "encrypted": (_encrypted, "archive_encrypted", "without a password"),
    "odd packing": (
        lambda p: write_raw(p, GOOD, method=ZIP_LZMA),
        "archive_entry",
        "packed in a way",
    ),
    "bomb": (_bomb, "archive_too_large", "times larger"),
    "overlap": (_overlapping, "archive_overlap", "reaches into"),
    "nested": (_nested, "archive_nested", "within the archive"),
    "lying size": (_lying, "archive_broken", "damaged"),
    "damaged": (_damaged, "archive_broken", "damaged"),
    "unknown to the manifest": (
        _named("data/more.ndjson"),
        "archive_entry",
        "does not know",
    ),
    "missing": (
        lambda p: write_raw(p, {"manifest.json": GOOD["manifest.json"]}),
        "archive_entry",
        "is missing",
    ),
    "other digest": (
        _said(entries={"data/members.ndjson": {"size": 1, "sha256": "0" * 64}}),
        "archive_digest",
        "SHA-256",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_and_the_sentence_says_why(
    name: str, tmp_path: Path
) -> None:
    make, code, words = HOSTILE[name]
    path = tmp_path / "a.carillon"
    make(path)
    with pytest.raises(ArchiveRefused) as refused, open_archive(path) as archive:
        archive.verify(lambda _: None)
    assert (refused.value.code, words in refused.value.sentence) == (code, True), (
        refused.value.sentence
    )


def test_all_entries_together_have_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as few:
        few.setattr(directory, "ENTRIES_MAX", 1)
        path = write_raw(tmp_path / "a", GOOD)
        with pytest.raises(ArchiveRefused, match="has 2 entries"), open_archive(path):
            pass
    monkeypatch.setattr(directory, "TOTAL_MAX", 10)
    path = write(tmp_path / "a", {"members": [ROW]})
    with pytest.raises(ArchiveRefused, match="unpacks to"), open_archive(path):
        pass


def test_a_line_has_a_limit(tmp_path: Path) -> None:
    path = write(tmp_path / "a", {"members": [ROW | {"notes": "x" * 4_000_000}]})
    with (
        open_archive(path) as archive,
        pytest.raises(ArchiveRefused, match="Line 1 of"),
    ):
        list(archive.lines("members"))


def test_a_good_archive_is_read_line_by_line_as_zip64_too(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, text in GOOD.items():
            with file.open(name, "w", force_zip64=True) as entry:
                entry.write(text)
    # An end that points to the longer one of ZIP64, as archives over 4 GB have it.
    content = bytearray(path.read_bytes())
    at = content.rfind(b"PK\5\6")
    n, size, start = struct.unpack_from("<HLL", content, at + 10)
    long_end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, n, n, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    short = content[at:]
    struct.pack_into("<HHLL", short, 8, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
    path.write_bytes(bytes(content[:at]) + long_end + locator + bytes(short))
    heard: list[int] = []
    with open_archive(path) as archive:
        archive.verify(heard.append)
        assert [n for n, _ in archive.lines("members")] == [1]
        assert archive.names == {"data/members.ndjson"}
        assert sum(heard) == archive.n_data_bytes
