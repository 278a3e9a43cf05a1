"""What the console calls each kind of operation, and what it says will happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.filters import number
from tasks.lane import COUNT_CAP
from tasks.models import OperationKind

_K = OperationKind


@dataclass(frozen=True, slots=True)
class Words:
    """How one kind of operation speaks."""

    verb: str
    icon: str
    tone: Literal["primary", "danger"]
    one: str  # a noun
    many: str
    happens: Callable[[int], str]  # to so many rows
    unfit: Callable[[int], str]  # what becomes of so many ticked rows
    stays: tuple[str, ...]  # what does not happen
    later: str  # what is left alone since nobody saw it
    done: str  # after a number
    missed: str  # after the number of those that were not changed
    nothing: tuple[str, str]
    changed: str  # what a changed row was, on the operation's page
    title: str  # of a whole operation

    def noun(self, n: int) -> str:
        """Return the noun for so many rows."""
        return self.one if n == 1 else self.many

    def counted(self, n: int) -> str:
        """Return how many of what, as in ``10 000+ executions``."""
        return f"{number(n, COUNT_CAP)} {self.noun(n)}"


def _retried(n: int) -> str:
    is_ = "is" if n == 1 else "are"
    noun = "execution" if n == 1 else "executions"
    return (
        f"{number(n, COUNT_CAP)} failed {noun} {is_} queued at once, "
        "with all attempts to use."
    )


def _stay(n: int) -> str:
    return "stays as it is" if n == 1 else "stay as they are"


_EXECUTIONS: Final = ("execution", "executions")
_GUARDED: Final = (
    "Each is checked again first: where the rule is switched off or the booking is "
    "cancelled, nothing is sent."
)

WORDS: Final[Mapping[OperationKind, Words]] = {
    _K.RETRY_EXECUTIONS: Words(
        "Retry",
        "arrow-repeat",
        "primary",
        *_EXECUTIONS,
        happens=_retried,
        unfit=lambda n: f"cannot be retried any more and {_stay(n)}.",
        stays=(
            _GUARDED,
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
        *_EXECUTIONS,
        happens=lambda n: (
            f"{number(n, COUNT_CAP)} waiting "
            f"{'execution is' if n == 1 else 'executions are'} not carried out."
        ),
        unfit=lambda n: (
            f"{'does' if n == 1 else 'do'} not wait any more and {_stay(n)}."
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
        *_EXECUTIONS,
        happens=lambda n: (
            f"{number(n, COUNT_CAP)} {'execution' if n == 1 else 'executions'} that "
            f"{'was' if n == 1 else 'were'} not carried out "
            f"{'gets' if n == 1 else 'get'} another chance: what failed is queued "
            "again; what was cancelled or skipped is made anew, once, and its history "
            "stays."
        ),
        unfit=lambda n: f"cannot be replayed and {_stay(n)}.",
        stays=(
            _GUARDED,
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
            f"{'does' if n == 1 else 'do'} not wait any more and {_stay(n)}."
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
        unfit=lambda n: f"cannot be replayed and {_stay(n)}.",
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
