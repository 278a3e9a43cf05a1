"""What a lane, a sweep and its bench are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy.orm import Session

from tasks.automation.actions.base import Effects
from tasks.clock import Clock
from tasks.congregation.documents.rendering.renderer import ChildRenderer, Renderer
from tasks.db import Begin
from tasks.executing.hosts import Hosts
from tasks.executing.stragglers import Stragglers
from tasks.executing.suspecting import SuspectLooks
from tasks.held import Held
from tasks.meters import Meters
from tasks.pace import Pace
from tasks.storage.base import NoStorage, Storage
from tasks.views.reading import ViewReader


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a lease lasts and what follows from it."""

    lease: timedelta = timedelta(seconds=60)
    keep_settled: timedelta = timedelta(days=90)
    #: Executions by how they ended; None: as long as ``keep_settled``.
    keep_succeeded: timedelta | None = None
    keep_failed: timedelta | None = None  # also quarantined
    keep_not_run: timedelta | None = None  # cancelled or skipped
    keep_runs: timedelta = timedelta(days=7)
    campaign_hour: int = 2  # of UTC
    retention_hour: int = 3  # of UTC


@dataclass(frozen=True, slots=True)
class Bench:
    """What a sweep works with; made by the worker, or by a test."""

    begin: Begin
    clock: Clock
    effects: Effects
    worker: str = "test"  # goes into leases and attempts
    timing: Timing = field(default_factory=Timing)
    held: Held = field(default_factory=Held)
    pace: Pace = field(default_factory=Pace)
    hosts: Hosts = field(default_factory=Hosts)
    stragglers: Stragglers = field(default_factory=Stragglers)
    suspects: SuspectLooks = field(default_factory=SuspectLooks)
    storage: Storage = field(default_factory=NoStorage)
    renderer: Renderer = field(default_factory=ChildRenderer)
    meters: Meters = field(default_factory=Meters)
    #: When somebody asked for this sweep, so that it waits for no hour; None: nobody.
    asked_at: datetime | None = None
    console_url: str = ""  # where admins look; no slash at the end
    #: Counts the rows of saved views; None: this process does not know the console.
    views: ViewReader | None = None
    #: Set while the process drains: claim nothing new, give back what is not begun.
    stopping: threading.Event = field(default_factory=threading.Event)


class Swept(Protocol):
    """What one sweep did: a frozen dataclass with a tuple of ids for each outcome.

    ``is_full`` says that the batch was full, so more may be due at once.  A sweep that
    goes on when it fails for one congregation has a sentence on that in ``trouble``.
    """

    @property
    def is_full(self) -> bool:
        """Whether to sweep again at once."""


#: One pass over what is due: ``sweep(bench, limit)``, oldest first.
Sweep = Callable[[Bench, int], Swept]


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits for a lane: how many rows, and since when the oldest is due."""

    n_due: int  # at most COUNT_CAP; that many means "or more"
    oldest_due_at: datetime | None  # None: nothing waits


#: Counting stops here: no page counts a big table to its end.
COUNT_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Lane:
    """One kind of background work: a row of the registry."""

    name: str
    title: str  # as the purpose: marked, to be said where it is shown
    purpose: str  # a sentence for operators
    sweep: Sweep
    every: timedelta  # between two sweeps when no doorbell rings
    batch: int  # rows one sweep takes at most
    backlog: Callable[[Session, datetime], Backlog]
    #: The field of Config that replaces ``every``; None: the cadence is fixed.
    every_setting: str | None = None
    workers: int = 1  # sweeps at once; operators may change it, 1 to WORKERS_MAX
    #: Whether a rule may ask for a sweep; never for a lane that runs executions.
    is_startable: bool = False


#: The most workers an operator may give to one lane of one process.
WORKERS_MAX = 32


def tally(swept: Swept) -> Mapping[str, int]:
    """Return how many rows each outcome has; outcomes without rows are left out."""
    counted: dict[str, int] = {}
    for each in fields(swept):  # type: ignore[arg-type]  # every Swept is a dataclass
        rows = getattr(swept, each.name)
        if isinstance(rows, tuple) and rows:
            counted[each.name] = len(rows)
    return counted
