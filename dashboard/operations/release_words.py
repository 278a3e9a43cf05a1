"""How letting go and dropping what waited speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.operations.speech import EXECUTIONS, GUARDED, Words, capped
from tasks.models import OperationKind
from tasks.saying import mark, say_many

_K = OperationKind

RELEASES: Final[Mapping[OperationKind, Words]] = {
    _K.RELEASE_EXECUTIONS: Words(
        "unlock",
        "primary",
        EXECUTIONS,
        deed=lambda n: say_many(
            n, "Let go %(n)s execution", "Let go %(n)s executions", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s waiting execution goes out, as far as it is of use.",
            "%(n)s waiting executions go out, as far as they are of use.",
            n=capped(n),
        ),
        unfit=lambda n: say_many(
            n,
            "%(n)s of those you selected cannot be let go and stays as it is.",
            "%(n)s of those you selected cannot be let go and stay as they are.",
        ),
        stays=(GUARDED,),
        later=mark("What is made after this page was opened goes its own way."),
        done=lambda n: say_many(n, "%(n)s let go.", "%(n)s let go."),
        missed=lambda n: say_many(
            n, "%(n)s skipped: left as they were.", "%(n)s skipped: left as they were."
        ),
        nothing=(mark("Nothing to let go"), mark("Nothing waits.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s let go", "%(shown)s let go", shown=shown
        ),
        title=mark("Let go what waited"),
    ),
    _K.DROP_EXECUTIONS: Words(
        "slash-circle",
        "danger",
        EXECUTIONS,
        deed=lambda n: say_many(
            n, "Drop %(n)s execution", "Drop %(n)s executions", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s waiting execution is cancelled.",
            "%(n)s waiting executions are cancelled.",
            n=capped(n),
        ),
        unfit=lambda n: say_many(
            n,
            "%(n)s of those you selected cannot be dropped and stays as it is.",
            "%(n)s of those you selected cannot be dropped and stay as they are.",
        ),
        stays=(mark("A second chance is possible later: replay what was cancelled."),),
        later=mark("What is made after this page was opened goes its own way."),
        done=lambda n: say_many(
            n,
            "%(n)s dropped; nothing is sent for them.",
            "%(n)s dropped; nothing is sent for them.",
        ),
        missed=lambda n: say_many(
            n, "%(n)s skipped: left as they were.", "%(n)s skipped: left as they were."
        ),
        nothing=(mark("Nothing to drop"), mark("Nothing waits.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s dropped", "%(shown)s dropped", shown=shown
        ),
        title=mark("Drop what waited"),
    ),
}
