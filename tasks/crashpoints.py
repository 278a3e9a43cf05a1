"""Places where a test may have the process killed, to see what is left behind.

``CRASH_AT=after_effect carillon worker`` dies there as by ``kill -9``; in production
the setting is ignored.
"""

from __future__ import annotations

import os
import signal
from typing import Final

#: Every place, in the order in which an execution passes them.
POINTS: Final = (
    "in_dispatch",
    "after_claim",
    "before_effect",
    "after_effect",
    "after_settle",
    "in_rescue",
)
#: Places that no execution passes.
OTHER_POINTS: Final = (
    "in_operation",
    "in_contact_due",
    "in_sync",
    "in_thumbnail",
    "in_export",
    "in_import",
    "in_import_writing",
)
_IS_PRODUCTION: Final = os.environ.get("CARILLON_ENV") == "production"
_ARMED: Final = None if _IS_PRODUCTION else os.environ.get("CRASH_AT")


def reached(name: str) -> None:
    """Die at once when this is the place that ``CRASH_AT`` names."""
    if name == _ARMED:
        os.kill(os.getpid(), signal.SIGKILL)
