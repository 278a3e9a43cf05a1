"""A call's body as operators may see it: capped, and without what opens doors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

#: Characters of a body that are kept.
KEPT: Final = 4_000
_DOTS: Final = "••••"
#: Names of values that let somebody in, move money, or cancel a booking.
_SECRET: Final = re.compile(
    r"token|secret|passw|passcode|credential|authorization|api_?key|signature"
    r"|cancel_url|reschedule_url|payment|phone|sms|card",
    re.IGNORECASE,
)
_EMAIL: Final = re.compile(r"([^\s@\"<>]{1,2})[^\s@\"<>]*@([^\s@\"<>]+)")
_DEPTH: Final = 12
_MEMBERS: Final = 200  # of one object or list


def shown(message: Mapping[str, object]) -> str:
    """Return a message as text that may be kept and shown."""
    text = json.dumps(_clean(dict(message), 0), ensure_ascii=False, indent=1)
    # Half of a surrogate pair or a NUL could not be stored.
    safe = text.encode("utf-8", "replace").decode().replace("\0", "")
    return safe if len(safe) <= KEPT else safe[: KEPT - 2] + " …"


def _clean(value: Any, depth: int) -> Any:  # noqa: ANN401  # JSON in, JSON out
    if depth > _DEPTH:
        return "…"
    if isinstance(value, dict):
        return {
            str(key)[:80]: _DOTS
            if each and _SECRET.search(str(key))
            else _clean(each, depth + 1)
            for key, each in list(value.items())[:_MEMBERS]
        }
    if isinstance(value, list):
        return [_clean(each, depth + 1) for each in value[:_MEMBERS]]
    if isinstance(value, str):
        return _EMAIL.sub(r"\1•••@\2", value[:1_000]).replace("\0", "")
    return value
