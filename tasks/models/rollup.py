"""What charts are drawn from: counts by hour and by day, added up as work ends."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.models.base import Base, Id, OfCongregation, within_congregation, word


class EndedKind(StrEnum):
    """What came to an end."""

    EXECUTION = "execution"  # an attempt at one
    DELIVERY = "delivery"  # an attempt at one
    JOB = "job"  # a scheduled job
    CANCEL = "cancel"  # an execution that an operator cancelled before it was tried
    WORK = "work"  # of lanes whose rows keep no attempts; counted already


class Ended(Base):
    """What one transaction brought to an end, yet to be counted.

    It is written by that very transaction, and removed by the one that adds it to the
    counts: so nothing is left out, and nothing counts twice.
    """

    __tablename__ = "ended"

    id: Mapped[Id]
    kind: Mapped[EndedKind] = mapped_column(word(EndedKind))
    #: For each attempt the 16 bytes of its row's id and 4 of its number (jobs and
    #: cancels: 0); of work the sums themselves (``tasks.rollups.work``).
    keys: Mapped[bytes] = mapped_column(LargeBinary)


class Span(StrEnum):
    """How long the time is that one row counts."""

    HOUR = "hour"
    DAY = "day"  # of UTC


class Measure(IntEnum):
    """What is counted; buckets of times follow on ``WAIT`` and ``RUN``."""

    SUCCEEDED = 0
    FAILED = 1  # for good
    SKIPPED = 2  # looked at, and not done
    RETRIED = 3  # failed, and tried again
    WAIT = 100  # + bucket: from its time until a worker took it
    RUN = 200  # + bucket: from the start of the effect until it was written down


#: Upper ends of the buckets, in seconds; what is longer goes into one more.
BOUNDS: Final = (
    *(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
    *(60.0, 120.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0),
)


class LaneRollup(Base):
    """Counts of a lane over all congregations."""

    __tablename__ = "lane_rollups"
    __table_args__ = (Index(None, "span", "at"),)

    lane: Mapped[str] = mapped_column(String(32), primary_key=True)
    span: Mapped[Span] = mapped_column(word(Span), primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)  # the start
    measure: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    n: Mapped[int]


class CongregationRollup(OfCongregation, Base):
    """Counts of a lane within one congregation."""

    __tablename__ = "congregation_rollups"
    __table_args__ = (Index(None, "span", "at"),)

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True, sort_order=-1
    )
    lane: Mapped[str] = mapped_column(String(32), primary_key=True)
    span: Mapped[Span] = mapped_column(word(Span), primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    measure: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    n: Mapped[int]


class RuleRollup(OfCongregation, Base):
    """Counts of one rule."""

    __tablename__ = "rule_rollups"
    __table_args__ = (
        within_congregation("rule_id", "rules"),
        Index(None, "span", "at"),
    )

    rule_id: Mapped[UUID] = mapped_column(primary_key=True)
    span: Mapped[Span] = mapped_column(word(Span), primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    measure: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    n: Mapped[int]
