"""Who changes what somebody else has changed meanwhile is told so."""

from __future__ import annotations

from typing import Final

from tasks.errors import Conflict

#: The code of the refusal; the API answers it with 412.
VERSION_MISMATCH: Final = "version_mismatch"


def check_version(found: int | None, expected: int) -> None:
    """Refuse a change that was made up from an older version.

    Args:
        found: the version there is, of a locked row; None: there is no row.

    Raises:
        Conflict: they differ.
    """
    if found == expected:
        return
    is_there = "has changed" if found is not None else "is gone"
    raise Conflict(
        VERSION_MISMATCH,
        f"This {is_there} since you read it; read it again and repeat your change.",
    )
