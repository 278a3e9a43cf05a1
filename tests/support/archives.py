"""Archives made by hand: good ones, and such as nobody of good will makes."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

SOURCE = str(UUID(int=77))


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def manifest(
    data: Mapping[str, bytes], counts: Mapping[str, int] | None = None, **values: Any
) -> dict[str, Any]:
    """Return the manifest that fits the entries."""
    entries = {
        name: {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        for name, text in data.items()
    }
    found = {
        name.removeprefix("data/").removesuffix(".ndjson"): text.count(b"\n")
        for name, text in data.items()
        if name.startswith("data/")
    }
    return {
        "version": "1.0",
        "exportDate": "2026-03-01T10:00:00Z",
        "sourceApp": "carillon",
        "source": {"congregation": SOURCE, "slug": "old", "name": "Old"},
        "entityCounts": dict(counts or found),
        "entries": entries,
    } | values


def write(
    path: Path,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    files: Sequence[bytes] = (),
    **values: Any,
) -> Path:
    """Write an archive of our layout with these rows of each entity."""
    data = {f"data/{name}.ndjson": lines(each) for name, each in rows.items()}
    data |= {f"files/{hashlib.sha256(f).hexdigest()}": f for f in files}
    return write_raw(path, {"manifest.json": as_json(manifest(data, **values)), **data})


def write_public(
    path: Path, rows: Mapping[str, Sequence[Mapping[str, Any]]], version: str = "2.6"
) -> Path:
    """Write an archive of the public layout."""
    told = {
        "version": version,
        "exportDate": "2026-03-01T10:00:00.000Z",
        "sourceApp": "unitae",
        "entityCounts": {name: len(each) for name, each in rows.items()},
    }
    data = {f"data/{name}.ndjson": lines(each) for name, each in rows.items()}
    return write_raw(path, {"manifest.json": as_json(told), **data})


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def write_raw(
    path: Path, entries: Mapping[str, bytes], *, method: int = ZIP_DEFLATED
) -> Path:
    """Write exactly these entries."""
    with ZipFile(path, "w", method) as file:
        for name, text in entries.items():
            file.writestr(name, text)
    return path


def write_link(path: Path) -> Path:
    """Write an archive with a symbolic link in it."""
    with ZipFile(path, "w") as file:
        file.writestr("manifest.json", as_json(manifest({})))
        link = ZipInfo("data/members.ndjson")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    return path


def patched(path: Path, old: bytes, new: bytes) -> Path:
    """Change bytes of a file, everywhere."""
    assert len(old) == len(new)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path
