"""A worker on a machine whose wall clock is wrong by the seconds that a file tells.

``python -m tests.chaos.skewed_worker FILE worker`` behaves like ``carillon worker``;
what is written to the file later is a jump.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path


def main() -> None:
    told, right_time = Path(sys.argv.pop(1)), time.time

    def wrong_time() -> float:
        return right_time() + float(told.read_text() or 0)

    # Before anything of ours is imported, so that everybody gets the wrong time.
    time.time = wrong_time
    import tasks.clock

    tasks.clock.utcnow = lambda: datetime.fromtimestamp(wrong_time(), UTC)
    # Asked more often than usual, so that a short test sees every jump.
    tasks.clock.DatabaseClock.ANCHOR_FOR = timedelta(seconds=0.1)

    from dashboard.cli import main as carillon

    carillon()


if __name__ == "__main__":
    main()
