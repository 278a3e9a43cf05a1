"""What the console calls each kind of operation, and what it says will happen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.filters import number
from dashboard.operations.release_words import RELEASES
from dashboard.operations.speech import EXECUTIONS, GUARDED, Words, stay
from tasks.lane import COUNT_CAP
from tasks.models import OperationKind

__all__ = ["WORDS", "Words"]

_K = OperationKind


def _retried(n: int) -> str:
    is_ = "is" if n == 1 else "are"
    noun = "execution" if n == 1 else "executions"
    return (
        f"{number(n, COUNT_CAP)} failed {noun} {is_} queued at once, "
        "with all attempts to use."
    )


WORDS: Final[Mapping[OperationKind, Words]] = {
    _K.RETRY_EXECUTIONS: Words(
        "Retry",
        "arrow-repeat",
        "primary",
        *EXECUTIONS,
        happens=_retried,
        unfit=lambda n: f"cannot be retried any more and {stay(n)}.",
        stays=(
            GUARDED,
            "Nothing that succeeded is done again, and their history is kept. Where "
            "the last answer was lost, the message may arrive a second time, with the "
            "same id.",
        ),
        later="What fails after this page was opened is left alone.",
        done="queued for another try.",
        missed="not failed any more.",
        nothing=("Nothing to retry", "None of them is failed any more."),
        changed="queued again",
        title="Retry executions",
    ),
    _K.CANCEL_EXECUTIONS: Words(
        "Cancel",
        "slash-circle",
        "danger",
        *EXECUTIONS,
        happens=lambda n: (
            f"{number(n, COUNT_CAP)} waiting "
            f"{'execution is' if n == 1 else 'executions are'} not carried out."
        ),
        unfit=lambda n: (
            f"{'does' if n == 1 else 'do'} not wait any more and {stay(n)}."
        ),
        stays=(
            "What a worker has begun is not called back; what was sent stays sent.",
            "A second chance is possible later: replay them from the list of what was "
            "cancelled.",
        ),
        later="What is made after this page was opened is left alone.",
        done="cancelled; nothing is sent for them.",
        missed="they did not wait any more.",
        nothing=("Nothing to cancel", "None of them waits any more."),
        changed="cancelled",
        title="Cancel executions",
    ),
    _K.REPLAY_EXECUTIONS: Words(
        "Replay",
        "arrow-counterclockwise",
        "primary",
        *EXECUTIONS,
        happens=lambda n: (
            f"{number(n, COUNT_CAP)} {'execution' if n == 1 else 'executions'} that "
            f"{'was' if n == 1 else 'were'} not carried out "
            f"{'gets' if n == 1 else 'get'} another chance: what failed is queued "
            "again; what was cancelled or skipped is made anew, once, and its history "
            "stays."
        ),
        unfit=lambda n: f"cannot be replayed and {stay(n)}.",
        stays=(
            GUARDED,
            "What a newer reminder took the place of, or the application took back, "
            "stays as it is.",
        ),
        later="What ends after this page was opened is left alone.",
        done="replayed.",
        missed="left as they were.",
        nothing=("Nothing to replay", "None of them has ended, or none is here."),
        changed="replayed",
        title="Replay executions",
    ),
    **RELEASES,
    _K.CANCEL_JOBS: Words(
        "Cancel",
        "slash-circle",
        "danger",
        "scheduled job",
        "scheduled jobs",
        happens=lambda n: (
            f"{number(n, COUNT_CAP)} scheduled {'job does' if n == 1 else 'jobs do'} "
            "not happen. This cannot be undone."
        ),
        unfit=lambda n: (
            f"{'does' if n == 1 else 'do'} not wait any more and {stay(n)}."
        ),
        stays=(
            "What has become an execution already is not called back.",
            "Where the booking or the episode is moved later, the rule plans a new "
            "job.",
        ),
        later="What is planned after this page was opened is left alone.",
        done="cancelled; they will not happen.",
        missed="they did not wait any more.",
        nothing=("Nothing to cancel", "None of them waits any more."),
        changed="cancelled",
        title="Cancel scheduled jobs",
    ),
    _K.REPLAY_EVENTS: Words(
        "Replay",
        "arrow-counterclockwise",
        "primary",
        "event",
        "events",
        happens=lambda n: (
            f"The rules as they are now look at {number(n, COUNT_CAP)} "
            f"{'event' if n == 1 else 'events'} once more."
        ),
        unfit=lambda n: f"cannot be replayed and {stay(n)}.",
        stays=(
            "A rule that has acted on an event does not act on it again; its decision "
            "then says “duplicate”.",
            "What a rule would do now is done at once, and is checked once more right "
            "before. What dates lead to is planned from bookings and episodes, not "
            "from events.",
        ),
        later="Events that come in after this page was opened are left alone.",
        done="replayed.",
        missed="led to nothing new.",
        nothing=("Nothing to replay", "No event matches."),
        changed="led to something new",
        title="Replay events",
    ),
}
