"""How sending many deliveries and mails again speaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.operations.speech import Noun, Words, capped
from tasks.models import OperationKind
from tasks.saying import mark, say_many

_K = OperationKind
#: What fails later was not seen when the number was confirmed.
_LATER: Final = mark("What fails after this page was opened is left alone.")


def _skipped(n: int, shown: str) -> str:
    return say_many(n, "%(shown)s skipped", "%(shown)s skipped", shown=shown)


def _again(n: int, shown: str) -> str:
    return say_many(n, "%(shown)s queued again", "%(shown)s queued again", shown=shown)


def _unfit(n: int) -> str:
    return say_many(
        n,
        "%(n)s of those you selected cannot be sent again.",
        "%(n)s of those you selected cannot be sent again.",
    )


def _missed(n: int) -> str:
    return say_many(
        n, "%(n)s skipped: left as they were.", "%(n)s skipped: left as they were."
    )


def _done(n: int) -> str:
    return say_many(n, "%(n)s queued again.", "%(n)s queued again.")


DELIVERIES: Final = Noun(
    lambda n, done, total: say_many(
        n,
        "%(done)s of %(total)s delivery looked at",
        "%(done)s of %(total)s deliveries looked at",
        done=done,
        total=total,
    ),
    _skipped,
)
MAILS: Final = Noun(
    lambda n, done, total: say_many(
        n,
        "%(done)s of %(total)s mail looked at",
        "%(done)s of %(total)s mails looked at",
        done=done,
        total=total,
    ),
    _skipped,
)
OF_SENDING: Final[Mapping[OperationKind, Words]] = {
    _K.RETRY_DELIVERIES: Words(
        "arrow-repeat",
        "primary",
        DELIVERIES,
        deed=lambda n: say_many(
            n, "Send %(n)s delivery again", "Send %(n)s deliveries again", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s delivery that did not arrive is sent again, with the same id and "
            "body: the receiver knows by it what it has seen.",
            "%(n)s deliveries that did not arrive are sent again, with the same ids "
            "and bodies: the receivers know by them what they have seen.",
            n=capped(n),
        ),
        unfit=_unfit,
        stays=(
            mark("Endpoints that fail get one delivery at a time until one arrives."),
        ),
        later=_LATER,
        done=_done,
        missed=_missed,
        nothing=(
            mark("Nothing to send again"),
            mark("None of them can be sent again."),
        ),
        changed=_again,
        title=mark("Send deliveries again"),
    ),
    _K.RETRY_MAILS: Words(
        "arrow-repeat",
        "primary",
        MAILS,
        deed=lambda n: say_many(
            n, "Try %(n)s mail again", "Try %(n)s mails again", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s mail that failed is tried again, with all attempts to use.",
            "%(n)s mails that failed are tried again, with all attempts to use.",
            n=capped(n),
        ),
        unfit=_unfit,
        stays=(
            mark("What each of them tells is decided anew right before it leaves."),
        ),
        later=_LATER,
        done=_done,
        missed=_missed,
        nothing=(mark("Nothing to try again"), mark("None of them has failed.")),
        changed=_again,
        title=mark("Try mails again"),
    ),
}
