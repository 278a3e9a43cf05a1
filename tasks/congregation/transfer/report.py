"""What is told of an archive: counts, warnings, and problems by file, line and field.

Kept for weeks and shown to whoever may see the congregation, so it never repeats what
stands in a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.saying.kept import kept, said_of

#: Problems that are listed; the rest is counted.
PROBLEMS_SHOWN: Final = 200
#: Lines that are named as examples.
LINES_SHOWN: Final = 5
_SENTENCES_SHOWN: Final = 100


@dataclass(slots=True)
class Tally:
    """What becomes of the rows of one entity."""

    new: int = 0
    updated: int = 0
    same: int = 0  # as they are here already
    left: int = 0  # left out, as a warning says


@dataclass(slots=True)
class Report:
    """What was found in an archive, or put into one."""

    about: dict[str, str] = field(default_factory=dict)  # of the archive, for people
    tallies: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    warnings: list[str] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    n_problems: int = 0
    _conflicts: dict[str, list[int]] = field(default_factory=dict)
    _n_conflicts: Counter[str] = field(default_factory=Counter)
    _alike: dict[str, list[int]] = field(default_factory=dict)
    _n_alike: Counter[str] = field(default_factory=Counter)
    _left: Counter[tuple[str, str]] = field(default_factory=Counter)

    def problem(self, file: str, line: int, name: str, sentence: str) -> None:
        """Tell what is wrong with a field of a line; line 0 means the whole file."""
        self.n_problems += 1
        if len(self.problems) < PROBLEMS_SHOWN:
            found = {"file": file, "line": line, "field": name, "sentence": sentence}
            self.problems.append(found | {"said": said_of(sentence)})

    def warn(self, sentence: str) -> None:
        """Tell what an operator should know before going on."""
        if len(self.warnings) < _SENTENCES_SHOWN and sentence not in self.warnings:
            self.warnings.append(sentence)

    def conflict(self, entity: str, line: int) -> None:
        """Tell that a row is here already, and not from an earlier import."""
        self._n_conflicts[entity] += 1
        lines = self._conflicts.setdefault(entity, [])
        if len(lines) < LINES_SHOWN:
            lines.append(line)

    def alike(self, entity: str, line: int) -> None:
        """Tell that a new row looks like one that is here."""
        self._n_alike[entity] += 1
        lines = self._alike.setdefault(entity, [])
        if len(lines) < LINES_SHOWN:
            lines.append(line)

    def leave(self, entity: str, why: str) -> None:
        """Count a row that is left out."""
        self.tallies[entity].left += 1
        self._left[entity, why] += 1

    @property
    def n_rows(self) -> int:
        """How many rows are written."""
        return sum(each.new + each.updated for each in self.tallies.values())

    def as_json(self) -> dict[str, Any]:
        """Return it as a transfer keeps it."""
        alike = [
            kept(
                "%(n)s of “%(name)s” have the name and birthday of somebody who is "
                "here, and are added beside them (line %(lines)s).",
                n=str(n),
                name=name,
                lines=_lines(self._alike[name], n),
            )
            for name, n in self._n_alike.items()
        ]
        left = [
            kept(
                "%(n)s of “%(entity)s” left out: %(why)s",
                n=str(n),
                entity=entity,
                why=why,
            )
            for (entity, why), n in sorted(self._left.items())
        ]
        warnings = [*self.warnings, *alike, *left]
        return {
            "about": self.about,
            "counts": {
                name: {
                    "new": each.new,
                    "updated": each.updated,
                    "same": each.same,
                    "left": each.left,
                }
                for name, each in self.tallies.items()
            },
            "conflicts": {
                name: {"n": self._n_conflicts[name], "lines": lines}
                for name, lines in self._conflicts.items()
            },
            "warnings": warnings,
            "warnings_said": [said_of(sentence) for sentence in warnings],
            "problems": self.problems,
            "n_problems": self.n_problems,
            "n_rows": self.n_rows,
        }


def _lines(lines: Sequence[int], n: int) -> str:
    some = ", ".join(str(line) for line in lines)
    return some if n <= len(lines) else f"{some} …"
