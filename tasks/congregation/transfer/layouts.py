"""From lines of an archive to rows of ours, whoever wrote the archive."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import Any, Final, NamedTuple, NoReturn, Protocol

from tasks.congregation.transfer.contents import fault_of
from tasks.congregation.transfer.entities import BY_NAME
from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.reading import Archive, Heard
from tasks.congregation.transfer.refusing import shown
from tasks.congregation.transfer.report import Report
from tasks.saying import mark
from tasks.saying.kept import kept

#: What our archives hold besides tables that come in.
_KNOWN: Final = ("congregation", "audit-entries")
#: Fields that are not known here and are counted; whoever makes them up has more.
_UNKNOWN_MAX: Final = 100
#: The entity whose rows come with a file each.
FILES: Final = "stored-files"


class Raw(NamedTuple):
    """A line that was read: an object with our names, or what is wrong with it."""

    file: str
    line: int
    values: Mapping[str, Any] | None
    problem: str = ""
    size: int = 0  # bytes of the line


class Layout(Protocol):
    """One way to lay out an archive."""

    #: What external ids belong to: where the archive came from.
    source: str

    def rows(self, entity: Entity) -> Iterator[Raw]:
        """Yield the rows of an entity, in the order of the file."""

    def field(self, entity: Entity, column: str) -> str:
        """Return what the archive calls a column."""

    def entry(self, sha256: str) -> str:
        """Return the name of the entry that has a content."""

    def conclude(self, report: Report) -> None:
        """Tell what of the archive was not used, once every row was read."""


class Lines:
    """The lines of an archive as objects, counted."""

    def __init__(self, archive: Archive, heard: Heard) -> None:
        self.archive = archive
        self.heard = heard
        self.counts: dict[str, int] = {}

    def objects(self, name: str) -> Iterator[Raw]:
        """Yield the objects of ``data/<name>.ndjson``."""
        file, n = f"{name}.ndjson", 0
        for number, line in self.archive.lines(name):
            n += 1
            self.heard(len(line))
            try:
                yield Raw(file, number, _object(line), size=len(line))
            except (ValueError, RecursionError):
                yield Raw(file, number, None, mark("is no JSON object"))
        self.counts[name] = n

    def compare(self, report: Report) -> None:
        """Tell where there are more or fewer rows than the manifest says."""
        for name, n in self.counts.items():
            said = self.archive.manifest.counts.get(name, 0)
            if said != n:
                sentence = kept(
                    "has %(n)s rows; the manifest says %(said)s",
                    n=str(n),
                    said=str(said),
                )
                report.problem(f"{name}.ndjson", 0, "", sentence)


class OurLayout:
    """Archives of ours: columns are called as in the tables."""

    def __init__(self, archive: Archive, heard: Heard) -> None:
        self._lines = Lines(archive, heard)
        self.source = archive.manifest.source["congregation"]
        self._unknown: Counter[tuple[str, str]] = Counter()

    def rows(self, entity: Entity) -> Iterator[Raw]:
        """Yield the rows of an entity, in the order of the file."""
        known = {column.name for column in entity.columns}
        for raw in self._lines.objects(entity.name):
            if raw.values is not None:
                self._count_unknown(entity.name, raw.values.keys() - known)
                if entity.name == FILES:
                    fault = fault_of(self._lines.archive, dict(raw.values))
                    raw = raw._replace(values=None, problem=fault) if fault else raw
            yield raw

    def _count_unknown(self, entity: str, names: Set[str]) -> None:
        for name in names:
            key = entity, name[:60]
            if key in self._unknown or len(self._unknown) < _UNKNOWN_MAX:
                self._unknown[key] += 1

    def field(self, entity: Entity, column: str) -> str:
        """Return what the archive calls a column: as we do."""
        del entity
        return column

    def entry(self, sha256: str) -> str:
        """Return the name of the entry that has a content."""
        return f"files/{sha256}"

    def conclude(self, report: Report) -> None:
        """Tell of other numbers of rows, and of what is not known here."""
        self._lines.compare(report)
        manifest = self._lines.archive.manifest
        for (entity, name), n in self._unknown.most_common(20):
            report.warn(
                kept(
                    "The field “%(field)s” of %(n)s rows of “%(entity)s” is not known "
                    "here and is left out.",
                    field=shown(name),
                    n=str(n),
                    entity=entity,
                )
            )
        for name, n in manifest.counts.items():
            if name not in BY_NAME and name not in _KNOWN:
                report.warn(
                    kept(
                        "%(n)s rows of “%(name)s” are not known here.",
                        n=str(n),
                        name=shown(name),
                    )
                )
        if manifest.is_newer:
            report.warn(
                kept(
                    "The archive has version %(version)s, which is newer than this "
                    "program; what it does not know is left out.",
                    version=manifest.title,
                )
            )
        if FILES not in manifest.counts:
            report.warn(mark("The archive has no files, so no documents come in."))
        report.warn(mark("The congregation's own name, language and time zone stay."))


def _object(line: bytes) -> dict[str, Any]:
    found = json.loads(line, parse_constant=_refuse)
    if not isinstance(found, dict):
        raise ValueError("no object")  # as JSON's own errors
    return found


def _refuse(word: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(word)
