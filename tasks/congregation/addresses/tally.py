"""What was found in the files of a sync: counted while they are read."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tasks.congregation.addresses.rows import Places, Refusal

#: Line numbers that are kept of each reason.
LINES_MAX: Final = 20


@dataclass(slots=True)
class FileTally:
    """One file."""

    name: str
    layout: str = ""
    bytes: int = 0
    rows: int = 0
    data_from: str | None = None  # an ISO date; None: nobody told


@dataclass(slots=True)
class Tally:
    """All files of a sync."""

    files: list[FileTally] = field(default_factory=list)
    wanted: int = 0  # rows that are of the congregation's places, and good
    outside: int = 0  # rows of other places
    refused: Counter[Refusal] = field(default_factory=Counter)
    lines: dict[Refusal, list[str]] = field(default_factory=dict)
    places: Places = field(default_factory=Places)

    def refuse(self, why: Refusal, file: FileTally, line: int) -> None:
        """Note a row that is no address, and where it stands."""
        self.refused[why] += 1
        lines = self.lines.setdefault(why, [])
        if len(lines) < LINES_MAX:
            lines.append(f"{file.name}:{line}" if len(self.files) > 1 else str(line))

    @property
    def read(self) -> int:
        """Rows of all files."""
        return sum(file.rows for file in self.files)

    def report(self, matched: int) -> dict[str, Any]:
        """Return the part of a sync's report that the files fill.

        Args:
            matched: addresses, each counted once.
        """
        return {
            "files": [asdict(file) for file in self.files],
            "read": self.read,
            "outside": self.outside,
            "matched": matched,
            "duplicates": self.wanted - matched,
            "rejected": sum(self.refused.values()),
            "reasons": [
                {"reason": why.value, "n": n, "lines": self.lines[why]}
                for why, n in self.refused.most_common()
            ],
        }
