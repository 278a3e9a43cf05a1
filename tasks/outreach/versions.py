"""Who changes what somebody else has changed meanwhile is told so."""

from __future__ import annotations

from typing import Final, Literal

from tasks.errors import Conflict
from tasks.saying import say

#: The code of the refusal; the API answers it with 412.
VERSION_MISMATCH: Final = "version_mismatch"
#: The versions that a caller accepts; "*": any, as long as there is a row.
Expected = frozenset[int] | Literal["*"]


def check_version(found: int | None, expected: Expected | None) -> None:
    """Refuse a change that was made up from an older version.

    Args:
        found: the version there is, of a locked row; None: there is no row.
        expected: None: whatever there is, or is not.

    Raises:
        Conflict: they differ.
    """
    if expected is None or (found is not None and expected == "*"):
        return
    if expected != "*" and found in expected:
        return
    told = (
        say("This has changed since you read it; read it again and repeat your change.")
        if found is not None
        else say(
            "This is gone since you read it; read it again and repeat your change."
        )
    )
    raise Conflict(VERSION_MISMATCH, told)
