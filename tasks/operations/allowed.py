"""What operators may do in which state, and the sentence for what they may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.models import ExecutionState, JobState

_E = ExecutionState

#: What may be tried again.
RETRYABLE: Final = (_E.FAILED, _E.QUARANTINED)

NOT_RETRYABLE: Final[Mapping[ExecutionState, str]] = {
    _E.PENDING: "It is queued already.",
    _E.RUNNING: "A worker is at it already.",
    _E.SUCCEEDED: "It succeeded; a retry would do it twice.",
    _E.CANCELLED: "It was cancelled, and stays so.",
    _E.SKIPPED: "There was nothing to do, so there is nothing to retry.",
}
NOT_CANCELLABLE: Final[Mapping[ExecutionState, str]] = {
    _E.RUNNING: "A worker is at it, so it cannot be called back any more.",
    _E.SUCCEEDED: "It has been done already.",
    _E.FAILED: "It has ended, and nothing more happens by itself.",
    _E.QUARANTINED: "It is not tried again by itself.",
    _E.CANCELLED: "It is cancelled already.",
    _E.SKIPPED: "It has ended without doing anything.",
}
#: Why a job that does not wait can be neither cancelled nor run now.
NOT_PENDING: Final[Mapping[JobState, str]] = {
    JobState.DISPATCHED: "It has become an execution already; look there.",
    JobState.CANCELLED: "It is cancelled already.",
    JobState.SKIPPED: "It was skipped, so there is nothing left to do.",
    JobState.MISSED: "Its time has passed.",
    JobState.SUPERSEDED: "A newer plan took its place; act on that one.",
}
