"""``python -m bench [WHAT ...]``: measure, and write each figure to the note.

Without WHAT: everything but ``size``, ``pages`` and ``sync``, whose millions of rows
take long to make, and ``peers``, which have to be installed.  ``make bench`` calls it.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Final

from bench import report
from bench.settings import say

_NOTE: Final = Path(__file__).parents[1] / "docs" / "benchmarks.md"
#: What can be measured: its word and mark in the note, and the module that does it.
SECTIONS: Final = {
    "peers": "contest",
    "emit": "emitting",
    "drain": "draining",
    "latency": "latency",
    "schedule": "scheduling",
    "web": "web",
    "sync": "syncing",
    "size": "size",
    "pages": "pages",
}
_USUAL: Final = tuple(
    name for name in SECTIONS if name not in {"size", "pages", "peers", "sync"}
)
#: Settings that the command in the note shows, when they were given.
_SHOWN: Final = (
    "RUNS",
    "N",
    "EMIT",
    "SCHEDULED",
    "LIMIT",
    "SWEEPS",
    "SIZES",
    "VISITS",
    "ADDRESSES",
)


def _command(name: str) -> str:
    given = [f"{key}={os.environ[key]}" for key in _SHOWN if os.environ.get(key)]
    return " ".join([*given, "python -m bench", name])


def main(names: list[str]) -> None:
    """Measure what is named, one after the other.

    Raises:
        SystemExit: there is no such section.
    """
    if unknown := set(names) - set(SECTIONS):
        sys.exit(f"No such section: {', '.join(unknown)}; known: {', '.join(SECTIONS)}")
    for name in names or _USUAL:
        say(f"{name} ...")
        started = time.monotonic()
        body = import_module(f"bench.{SECTIONS[name]}").measure()
        report.write(_NOTE, name, f"{body}\n\n{report.machine(_command(name))}")
        say(f"{name}: {time.monotonic() - started:.0f} s\n\n{body}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
