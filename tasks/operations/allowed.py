"""What operators may do in which state, and the sentence for what they may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.models import ExecutionState, JobState
from tasks.saying import mark

_E = ExecutionState

#: What may be tried again.
RETRYABLE: Final = (_E.FAILED, _E.QUARANTINED)

NOT_RETRYABLE: Final[Mapping[ExecutionState, str]] = {
    _E.PENDING: mark("It is queued already."),
    _E.RUNNING: mark("A worker is at it already."),
    _E.SUCCEEDED: mark("It succeeded; a retry would do it twice."),
    _E.CANCELLED: mark("It was cancelled, and stays so."),
    _E.SKIPPED: mark("There was nothing to do, so there is nothing to retry."),
}
NOT_CANCELLABLE: Final[Mapping[ExecutionState, str]] = {
    _E.RUNNING: mark("A worker is at it, so it cannot be called back any more."),
    _E.SUCCEEDED: mark("It has been done already."),
    _E.FAILED: mark("It has ended, and nothing more happens by itself."),
    _E.QUARANTINED: mark("It is not tried again by itself."),
    _E.CANCELLED: mark("It is cancelled already."),
    _E.SKIPPED: mark("It has ended without doing anything."),
}
#: Why a job that does not wait can be neither cancelled nor run now.
NOT_PENDING: Final[Mapping[JobState, str]] = {
    JobState.DISPATCHED: mark("It has become an execution already; look there."),
    JobState.CANCELLED: mark("It is cancelled already."),
    JobState.SKIPPED: mark("It was skipped, so there is nothing left to do."),
    JobState.MISSED: mark("Its time has passed."),
    JobState.SUPERSEDED: mark("A newer plan took its place; act on that one."),
}
