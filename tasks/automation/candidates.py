"""What is about to act: an execution that is ours, or a scheduled job that is due."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID

from tasks.automation.records import About


class Candidate(About, Protocol):
    """A row that is looked at once more before it acts."""

    @property
    def id(self) -> UUID:
        """Its id."""

    @property
    def rule_id(self) -> UUID:
        """The rule that led to it."""

    @property
    def trigger_type(self) -> str:
        """The rule's trigger."""

    @property
    def due_at(self) -> datetime:
        """What was promised."""


def action_of(row: object) -> str | None:
    """Return the action of an execution; a job does not act itself."""
    action: str | None = getattr(row, "action", None)
    return action


def noted_recipient(row: object) -> str | None:
    """Return whom an execution says it goes to."""
    recipient: str | None = getattr(row, "recipient", None)
    return recipient


def job_behind(row: object) -> UUID | None:
    """Return the job that an execution came of; a job itself came of none."""
    job_id: UUID | None = getattr(row, "scheduled_job_id", None)
    return job_id


def step_number(row: object) -> int:
    """Return which step of its rule an execution is; a job is the first."""
    number: int = getattr(row, "step", 0)
    return number
