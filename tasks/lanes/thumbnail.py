"""Thumbnail: draw the first page of each PDF of the document boards.

Fed by uploads, and by operators who ask for another try; files that nobody asked for
come when nothing else waits.  Shape: claim · act · settle, one file at a time, and the
drawing in a child process within limits.  When the worker dies, its child dies as well,
the lease lapses and the file is taken again; the attempt shuts out a late writer.
"""

from __future__ import annotations

import io
import logging
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from tasks.congregation.documents.rendering.pictures import BYTES_MAX, Picture
from tasks.congregation.documents.rendering.renderer import Refused
from tasks.congregation.documents.thumbnails import (
    Claim,
    backlog,
    claim_next,
    settle,
)
from tasks.crashpoints import reached
from tasks.executing.recording import patiently
from tasks.lane import Bench
from tasks.models.document import ThumbnailReason
from tasks.storage import FileMissing, StorageFailed

__all__ = ["ThumbnailSweep", "backlog", "sweep"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ThumbnailSweep:
    """What one sweep did, as ids of stored files."""

    made: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()  # to be tried again
    failed: tuple[UUID, ...] = ()
    lost: tuple[UUID, ...] = ()  # removed meanwhile, or somebody else's by now
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ThumbnailSweep:
    """Make up to ``limit`` thumbnails, what waits longest first."""
    ended: defaultdict[str, list[UUID]] = defaultdict(list)
    n_done = 0
    while n_done < limit and not bench.stopping.is_set():
        with bench.begin() as session:
            claim = claim_next(session, bench.clock())
        if claim is None:
            break
        got = _act(bench, claim)
        ended[patiently(bench, partial(_settle, bench, claim, got))].append(
            claim.file_id
        )
        n_done += 1
    return ThumbnailSweep(
        **{word: tuple(ids) for word, ids in ended.items()}, is_full=n_done == limit
    )


def _act(bench: Bench, claim: Claim) -> Picture | Refused:
    """Draw the page and put the picture into the storage; no transaction is open."""
    try:
        with bench.storage.at_hand(claim.key) as path:
            got = bench.renderer.render(path)
        reached("in_thumbnail")
        if isinstance(got, Picture):
            bench.storage.put(claim.picture_key, io.BytesIO(got.data), limit=BYTES_MAX)
    except FileMissing:
        return Refused(ThumbnailReason.FILE_MISSING)
    except StorageFailed:
        logger.warning("thumbnail.storage_failed", exc_info=True)
        return Refused(ThumbnailReason.STORAGE_FAILED)
    return got


def _settle(bench: Bench, claim: Claim, got: Picture | Refused) -> str:
    with bench.begin() as session:
        return settle(session, claim, got, bench.clock())
