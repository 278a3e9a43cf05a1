"""A producer in a process of its own: a steady trickle of events.

``python -m bench.producer CONGREGATION SECONDS FILE BELLS`` reads the settings of its
environment and writes each event's id and the instant of its commit to FILE.  Without
BELLS (``0``) every doorbell is lost: none is ever rung.  The first events are not
written down: with them a new process makes its statements and its connections, and what
it is late with then, it reports in a burst.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Final
from uuid import UUID

from bench.world import World, event
from tasks import queue
from tasks.automation.events import emit_events
from tasks.config import Config
from tasks.db import make_engine, sessions

#: Events a second.
RATE: Final = 50
#: Events that do not count.
_WARM: Final = RATE


def main(congregation: str, seconds: str, path: str, bells: str) -> None:
    """Emit for so many seconds."""
    config = Config.from_environ(os.environ)
    if bells == "1":
        queue.configure(config)
    engine = make_engine(config.database_url)
    world = World(UUID(congregation))
    started = time.monotonic()
    with Path(path).open("w") as file:
        for number in range(_WARM + int(RATE * float(seconds))):
            time.sleep(max(0.0, started + number / RATE - time.monotonic()))
            with sessions(engine).begin() as session:
                [result] = emit_events(session, [event(world, number)])
            if number >= _WARM:
                file.write(f"{result.event_id} {time.monotonic()}\n")
    queue.close()
    engine.dispose()


if __name__ == "__main__":
    main(*sys.argv[1:])
