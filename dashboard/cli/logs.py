"""How processes write their log: one line an event, fields after the event's word."""

from __future__ import annotations

import logging
import sys
from typing import Final

#: What every record has; anything else was given as ``extra``.
_USUAL: Final = frozenset(
    (*vars(logging.makeLogRecord({})), "message", "asctime", "taskName")
)
#: Libraries that tell more at INFO than anybody wants to know.
_TALKATIVE: Final = ("huey", "alembic", "mail.log", "urllib3", "apprise")


class LineFormatter(logging.Formatter):
    """Writes ``12:00:01 INFO lane.swept lane=executions moved={'succeeded': 3}``."""

    default_time_format = "%Y-%m-%d %H:%M:%S"
    default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        record.message = record.getMessage()
        words = [self.formatTime(record), record.levelname, record.message]
        words += [
            f"{name}={value}"
            for name, value in vars(record).items()
            if name not in _USUAL
        ]
        lines = [" ".join(words).replace("\n", " ")]
        if record.exc_info:
            lines.append(self.formatException(record.exc_info))
        return "\n".join(lines)


def configure_logging() -> None:
    """Write everything from INFO on to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
