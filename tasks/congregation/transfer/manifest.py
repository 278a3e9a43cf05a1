"""What an archive says it holds: its manifest, and which versions of it are read.

There are two lines of versions.  Ours begins with 1.0: a newer minor version may add
entities and fields, which older programs leave out and say so; a newer major version
is refused.  The other is the public layout that congregations' programs exchange, 1.0
to 2.6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks.congregation.transfer.refusing import ArchiveRefused, shown
from tasks.saying.kept import kept

MANIFEST: Final = "manifest.json"
OUR_APP: Final = "carillon"
OUR_VERSION: Final = "1.0"
PUBLIC_APP: Final = "unitae"
PUBLIC_VERSIONS: Final = ("1.0", "1.1", *(f"2.{minor}" for minor in range(7)))
#: Bytes of a manifest; one with 20 000 files has three million.
MANIFEST_MAX: Final = 8_000_000

_ENTRY_NAME: Final = re.compile(r"data/[a-z0-9-]{1,60}\.ndjson|files/[0-9a-f]{64}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """What the manifest says of one entry."""

    size: int  # bytes, unpacked
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself."""

    app: str
    version: tuple[int, int]
    exported_at: str  # as it stands there; for people
    counts: Mapping[str, int]  # entity -> rows
    source: Mapping[str, str]  # of our archives: congregation, slug, name
    entries: Mapping[str, Entry]  # of our archives: everything but the manifest

    @property
    def is_ours(self) -> bool:
        """Whether it is of our line of versions."""
        return self.app == OUR_APP

    @property
    def title(self) -> str:
        """Program and version, for people."""
        return f"{self.app} {self.version[0]}.{self.version[1]}"

    @property
    def is_newer(self) -> bool:
        """Whether it may hold what this program does not know."""
        return self.is_ours and self.version > _version_of(OUR_VERSION)


def read_manifest(text: bytes) -> Manifest:
    """Read a manifest and decide whether its archive can be read.

    Raises:
        ArchiveRefused: it is broken, or of a version that is not read here.
    """
    told = _json_of(text)
    app = _text(told, "sourceApp")
    version = _version_of(_text(told, "version"))
    _check_version(app, version)
    is_ours = app == OUR_APP
    return Manifest(
        app=app,
        version=version,
        exported_at=_text(told, "exportDate")[:40],
        counts=_counts(told),
        source=_source(told) if is_ours else {},
        entries=_entries(told) if is_ours else {},
    )


def _json_of(text: bytes) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _broken(kept("it is no JSON")) from error
    if not isinstance(told, dict):
        raise _broken(kept("it is no JSON object"))
    return told


def _check_version(app: str, version: tuple[int, int]) -> None:
    shown_version = f"{version[0]}.{version[1]}"
    if app == OUR_APP:
        if version[0] != _version_of(OUR_VERSION)[0]:
            raise ArchiveRefused(
                "archive_version",
                kept(
                    "The archive has version %(version)s; this program reads "
                    "%(ours)s.x. Update the program, or export again.",
                    version=shown_version,
                    ours=OUR_VERSION[0],
                ),
            )
    elif app == PUBLIC_APP:
        if shown_version not in PUBLIC_VERSIONS:
            raise ArchiveRefused(
                "archive_version",
                kept(
                    "The archive has version %(version)s of the public layout; "
                    "%(first)s to %(last)s are read.",
                    version=shown_version,
                    first=PUBLIC_VERSIONS[0],
                    last=PUBLIC_VERSIONS[-1],
                ),
            )
    else:
        raise ArchiveRefused(
            "archive_version",
            kept(
                "The archive is of “%(app)s”; those of %(ours)s and %(public)s are "
                "read.",
                app=shown(app),
                ours=OUR_APP,
                public=PUBLIC_APP,
            ),
        )


def _counts(told: dict[str, Any]) -> dict[str, int]:
    counts = told.get("entityCounts")
    if not isinstance(counts, dict) or not all(
        isinstance(n, int) and not isinstance(n, bool) and n >= 0
        for n in counts.values()
    ):
        raise _broken(kept("“entityCounts” is not a number of rows for each entity"))
    return {str(name)[:60]: n for name, n in counts.items()}


def _source(told: dict[str, Any]) -> dict[str, str]:
    source = told.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("congregation"), str):
        raise _broken(kept("“source” does not name a congregation"))
    return {key: str(value)[:120] for key, value in source.items()}


def _entries(told: dict[str, Any]) -> dict[str, Entry]:
    entries = told.get("entries")
    if not isinstance(entries, dict):
        raise _broken(kept("“%(name)s” is missing", name="entries"))
    return {name: _entry(name, said) for name, said in entries.items()}


def _entry(name: str, said: object) -> Entry:
    if not _ENTRY_NAME.fullmatch(name):
        raise _broken(
            kept("“%(name)s” cannot be the name of an entry", name=shown(name))
        )
    size, digest = (said if isinstance(said, dict) else {}).get("size"), ""
    if isinstance(said, dict) and isinstance(said.get("sha256"), str):
        digest = said["sha256"]
    if type(size) is int and size >= 0 and _DIGEST.fullmatch(digest):
        return Entry(size, digest)
    raise _broken(kept("size or SHA-256 of “%(name)s” is missing", name=shown(name)))


def _text(told: dict[str, Any], name: str) -> str:
    value = told.get(name)
    if not isinstance(value, str) or not value:
        raise _broken(kept("“%(name)s” is missing", name=name))
    return value


def _version_of(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", text)
    if not found:
        raise _broken(kept("“version” is not two numbers such as 1.0"))
    return int(found[1]), int(found[2])


def _broken(why: str) -> ArchiveRefused:
    told = kept("The archive's %(file)s: %(why)s.", file=MANIFEST, why=why)
    return ArchiveRefused("archive_manifest", told)
