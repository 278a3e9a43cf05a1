"""How retrying, cancelling and replaying executions speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.operations.speech import EXECUTIONS, GUARDED, Words, capped
from tasks.models import OperationKind
from tasks.saying import mark, say_many

_K = OperationKind

OF_EXECUTIONS: Final[Mapping[OperationKind, Words]] = {
    _K.RETRY_EXECUTIONS: Words(
        "arrow-repeat",
        "primary",
        EXECUTIONS,
        deed=lambda n: say_many(
            n, "Retry %(n)s execution", "Retry %(n)s executions", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s failed execution is queued at once, with all attempts to use.",
            "%(n)s failed executions are queued at once, with all attempts to use.",
            n=capped(n),
        ),
        unfit=lambda n: say_many(
            n,
            "%(n)s of those you selected cannot be retried any more and stays as it "
            "is.",
            "%(n)s of those you selected cannot be retried any more and stay as they "
            "are.",
        ),
        stays=(
            GUARDED,
            mark(
                "Nothing that succeeded is done again, and their history is kept. "
                "Where the last answer was lost, the message may arrive a second time, "
                "with the same id."
            ),
        ),
        later=mark("What fails after this page was opened is left alone."),
        done=lambda n: say_many(
            n, "%(n)s queued for another try.", "%(n)s queued for another try."
        ),
        missed=lambda n: say_many(
            n,
            "%(n)s skipped: not failed any more.",
            "%(n)s skipped: not failed any more.",
        ),
        nothing=(mark("Nothing to retry"), mark("None of them is failed any more.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s queued again", "%(shown)s queued again", shown=shown
        ),
        title=mark("Retry executions"),
    ),
    _K.CANCEL_EXECUTIONS: Words(
        "slash-circle",
        "danger",
        EXECUTIONS,
        deed=lambda n: say_many(
            n, "Cancel %(n)s execution", "Cancel %(n)s executions", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s waiting execution is not carried out.",
            "%(n)s waiting executions are not carried out.",
            n=capped(n),
        ),
        unfit=lambda n: say_many(
            n,
            "%(n)s of those you selected does not wait any more and stays as it is.",
            "%(n)s of those you selected do not wait any more and stay as they are.",
        ),
        stays=(
            mark(
                "What a worker has begun is not called back; what was sent stays sent."
            ),
            mark(
                "A second chance is possible later: replay them from the list of what "
                "was cancelled."
            ),
        ),
        later=mark("What is made after this page was opened is left alone."),
        done=lambda n: say_many(
            n,
            "%(n)s cancelled; nothing is sent for them.",
            "%(n)s cancelled; nothing is sent for them.",
        ),
        missed=lambda n: say_many(
            n,
            "%(n)s skipped: they did not wait any more.",
            "%(n)s skipped: they did not wait any more.",
        ),
        nothing=(mark("Nothing to cancel"), mark("None of them waits any more.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s cancelled", "%(shown)s cancelled", shown=shown
        ),
        title=mark("Cancel executions"),
    ),
    _K.REPLAY_EXECUTIONS: Words(
        "arrow-counterclockwise",
        "primary",
        EXECUTIONS,
        deed=lambda n: say_many(
            n, "Replay %(n)s execution", "Replay %(n)s executions", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s execution that was not carried out gets another chance: what failed "
            "is queued again; what was cancelled or skipped is made anew, once, and "
            "its history stays.",
            "%(n)s executions that were not carried out get another chance: what "
            "failed is queued again; what was cancelled or skipped is made anew, once, "
            "and its history stays.",
            n=capped(n),
        ),
        unfit=lambda n: say_many(
            n,
            "%(n)s of those you selected cannot be replayed and stays as it is.",
            "%(n)s of those you selected cannot be replayed and stay as they are.",
        ),
        stays=(
            GUARDED,
            mark(
                "What a newer reminder took the place of, or the application took "
                "back, stays as it is."
            ),
        ),
        later=mark("What ends after this page was opened is left alone."),
        done=lambda n: say_many(n, "%(n)s replayed.", "%(n)s replayed."),
        missed=lambda n: say_many(
            n, "%(n)s skipped: left as they were.", "%(n)s skipped: left as they were."
        ),
        nothing=(
            mark("Nothing to replay"),
            mark("None of them has ended, or none is here."),
        ),
        changed=lambda n, shown: say_many(
            n, "%(shown)s replayed", "%(shown)s replayed", shown=shown
        ),
        title=mark("Replay executions"),
    ),
}
