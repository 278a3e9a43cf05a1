"""How letting go and dropping what waited speak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.filters import number
from dashboard.operations.speech import EXECUTIONS, GUARDED, Words, stay
from tasks.lane import COUNT_CAP
from tasks.models import OperationKind

_K = OperationKind

RELEASES: Final[Mapping[OperationKind, Words]] = {
    _K.RELEASE_EXECUTIONS: Words(
        "Let go",
        "unlock",
        "primary",
        *EXECUTIONS,
        happens=lambda n: (
            f"{number(n, COUNT_CAP)} waiting "
            f"{'execution goes' if n == 1 else 'executions go'} out, as far as "
            f"{'it is' if n == 1 else 'they are'} of use."
        ),
        unfit=lambda n: f"cannot be let go and {stay(n)}.",
        stays=(GUARDED,),
        later="What is made after this page was opened goes its own way.",
        done="let go.",
        missed="left as they were.",
        nothing=("Nothing to let go", "Nothing waits."),
        changed="let go",
        title="Let go what waited",
    ),
    _K.DROP_EXECUTIONS: Words(
        "Drop",
        "slash-circle",
        "danger",
        *EXECUTIONS,
        happens=lambda n: (
            f"{number(n, COUNT_CAP)} waiting "
            f"{'execution is' if n == 1 else 'executions are'} cancelled."
        ),
        unfit=lambda n: f"cannot be dropped and {stay(n)}.",
        stays=("A second chance is possible later: replay what was cancelled.",),
        later="What is made after this page was opened goes its own way.",
        done="dropped; nothing is sent for them.",
        missed="left as they were.",
        nothing=("Nothing to drop", "Nothing waits."),
        changed="dropped",
        title="Drop what waited",
    ),
}
