"""What a receiver's answer means for the attempt: a pure decision."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tasks.automation.actions.base import Done, GiveUp, Outcome, TryAgain
from tasks.models.reason import Reason
from tasks.outbound.retry_after import read_retry_after

#: Answers that mean "not now"; their Retry-After counts.
_NOT_NOW: Final = frozenset({429, 502, 503, 504})
_GONE: Final = 410
_KEPT: Final = 2_000  # characters of an answer that operators see


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the status and the start of the body, as bytes on the wire."""

    status: int
    body: bytes
    retry_after: str | None


def judge(answer: Answer, *, now: datetime) -> Outcome:
    """Return what ``answer`` means."""
    status = answer.status
    text = answer.body.decode("utf-8", "replace").replace("\x00", "�")[:_KEPT]
    if 200 <= status < 300:
        return Done(status, text)
    if status == _GONE:
        return GiveUp(
            Reason.REFUSED,
            "The address answered 410: it is gone for good.",
            status,
            text,
        )
    if 300 <= status < 400:
        return TryAgain(
            f"The address answered with a redirect ({status}); set the final address.",
            status,
            text,
        )
    after = (
        read_retry_after(answer.retry_after, now=now) if status in _NOT_NOW else None
    )
    return TryAgain(f"The address answered {status}.", status, text, after)
