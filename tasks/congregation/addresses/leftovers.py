"""What syncs stage on their worker's machine, and what is left of it when one died."""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

_PREFIX: Final = "carillon-sync-"
#: Far longer than any sync takes.
_NOBODYS_AFTER: Final = timedelta(days=1)


@contextmanager
def working_folder() -> Iterator[Path]:
    """Give a folder for one sync; what dead workers left is removed before."""
    _tidy()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        yield Path(folder)


def _tidy() -> None:
    before = time.time() - _NOBODYS_AFTER.total_seconds()
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            if folder.lstat().st_mtime < before:
                shutil.rmtree(folder)  # which follows no links
        except OSError:  # somebody else's, or removed by another worker just now
            logger.warning("sync.leftover", extra={"folder": folder.name})
