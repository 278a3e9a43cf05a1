"""What producers and the lifecycle verbs answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, TypeVar
from uuid import UUID

Row = TypeVar("Row")


class Unset(Enum):
    """The type of ``UNSET``: nothing was said, which is not the same as ``None``."""

    UNSET = "unset"

    def __bool__(self) -> bool:
        return False


#: Not mentioned: what is there stays.  ``None`` means: there is none any more.
UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class EmitEventResult:
    """What came of one event."""

    success: bool
    executions_created: int = 0
    rule_ids: tuple[UUID, ...] = ()  # the rules that fired
    error: str | None = None  # a sentence
    error_code: str | None = None  # a stable word
    event_id: UUID | None = None  # our id of the stored event, also of the first one
    is_duplicate: bool = False  # it had been reported before, so nothing fired


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """What came of planning the time rules of one booking, episode or podcast."""

    success: bool
    jobs_created: int = 0  # new pending jobs
    jobs_skipped: int = 0  # no date, its time has passed, or planned already
    rule_ids: tuple[UUID, ...] = ()  # the rules that got a new pending job
    error: str | None = None
    error_code: str | None = None
    jobs_cancelled: int = 0  # pending jobs that a newer plan ended


@dataclass(frozen=True, slots=True)
class RescheduleResult:
    """What came of moving the dates of one episode."""

    success: bool
    jobs_cancelled: int = 0
    jobs_created: int = 0
    jobs_skipped: int = 0
    rule_ids: tuple[UUID, ...] = ()
    error: str | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class CancelResult:
    """What came of cancelling the pending jobs of a booking, episode or podcast."""

    success: bool
    jobs_cancelled: int = 0
    error: str | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class Changed(Generic[Row]):
    """What a lifecycle verb did to one row."""

    row: Row
    changed: bool  # False: it was so already, and nothing was emitted or planned
    created: bool = False  # the row is new
    event: EmitEventResult | None = None  # None: nothing to report
    schedule: ScheduleResult | None = None  # None: nothing to plan
    executions_cancelled: int = 0
    jobs_cancelled: int = 0
