"""What the lanes remember: settings, runs, workers and their heartbeats."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, Json, word


class LaneSetting(Base):
    """What operators changed about a lane; no row means the registry's defaults."""

    __tablename__ = "lane_settings"

    lane: Mapped[str] = mapped_column(String(32), primary_key=True)
    is_paused: Mapped[bool] = mapped_column(default=False)
    paused_by: Mapped[str | None] = mapped_column(String(255))
    paused_at: Mapped[datetime | None]
    workers: Mapped[int | None]  # None: as the registry says
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)


class LaneTrigger(StrEnum):
    """Who started a sweep."""

    CLOCK = "clock"
    BOOT = "boot"
    DOORBELL = "doorbell"
    OPERATOR = "operator"
    RULE = "rule"
    CRON = "cron"  # a scheduler outside, through /cron/


class LaneRun(Base):
    """One sweep that did something, failed, or was asked for by an operator."""

    __tablename__ = "lane_runs"
    __table_args__ = (
        Index(None, "lane", "requested_at", "id"),
        Index(
            "ix_lane_runs_asked",
            "lane",
            postgresql_where=text("started_at IS NULL"),
            sqlite_where=text("started_at IS NULL"),
        ),
        Index(
            "ix_lane_runs_open",
            "started_at",
            postgresql_where=text("ended_at IS NULL"),
            sqlite_where=text("ended_at IS NULL"),
        ),
        Index(None, "requested_at"),
    )

    id: Mapped[Id]
    lane: Mapped[str] = mapped_column(String(32))
    trigger: Mapped[LaneTrigger] = mapped_column(word(LaneTrigger))
    requested_by: Mapped[str | None] = mapped_column(String(255))  # None: no person
    requested_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]  # None: asked for, not begun
    ended_at: Mapped[datetime | None]
    worker: Mapped[str | None] = mapped_column(String(64))
    moved: Mapped[Json] = mapped_column(default=dict)  # outcome -> how many rows
    n_moved: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(String(2000))


class WorkerState(StrEnum):
    """Where a worker process is in its life."""

    RUNNING = "running"
    DRAINING = "draining"  # finishes what it holds, takes nothing new
    STOPPED = "stopped"


class WorkerProcess(Base):
    """One worker process; silent for a minute means gone."""

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)  # host:pid:random
    hostname: Mapped[str] = mapped_column(String(255))
    pid: Mapped[int]
    lanes: Mapped[Json] = mapped_column(default=dict)  # lane -> workers
    state: Mapped[WorkerState] = mapped_column(
        word(WorkerState), default=WorkerState.RUNNING
    )
    started_at: Mapped[datetime]
    heartbeat_at: Mapped[datetime]


class LaneHeartbeat(Base):
    """When a worker last finished a sweep of a lane, also one that found nothing."""

    __tablename__ = "lane_heartbeats"

    lane: Mapped[str] = mapped_column(String(32), primary_key=True)
    worker: Mapped[str] = mapped_column(String(64), primary_key=True)
    swept_at: Mapped[datetime]
    n_sweeps: Mapped[int] = mapped_column(default=0)  # since the worker started
