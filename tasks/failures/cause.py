"""The cause of a failure: its error without what differs from one to the next."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID, uuid5

from tasks.models.failure import CAUSE_MAX
from tasks.models.reason import SENTENCES, Reason
from tasks.saying import mark

#: Longer errors are cut before anything is looked for in them.
_ERROR_MAX: Final = 2_000
#: What is replaced, in this order: earlier ones contain what later ones would find.
_PARTS: Final = (
    # Of an address on the web, its host says who failed.
    (
        re.compile(
            r"\bhttps?://(?:[^\s/@]*@)?([\w.-]+)[^\s,;)\]}>”’\"']*", re.IGNORECASE
        ),
        r"\1",
    ),
    (re.compile(r"<?\b[\w.+%-]+@[\w-]+(?:\.[\w-]+)*>?"), "<address>"),
    (
        re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE),
        "<id>",
    ),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?\S*)?"), "<time>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<ip>"),
    (
        re.compile(
            r"(?<![\w:])\[?[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7}\]?", re.IGNORECASE
        ),
        "<ip>",
    ),
    # A token: long, with letters and numbers in it.
    (re.compile(r"\b(?=\w*\d)(?=\w*[a-z])[\w-]{10,}\b", re.IGNORECASE), "<id>"),
)
_QUOTED: Final = re.compile(r"“([^”]*)”|‘([^’]*)’|\"([^\"]*)\"|(?<!\w)'([^']*)'(?!\w)")
#: The name of a value in a message is a cause; what stands in other quotes is not.
_NAME: Final = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
#: What a server answered says what is wrong, so it stays, as does SMTP's finer code,
#: and the port of a host.
_NUMBER: Final = re.compile(
    r"(?P<kept>(?<=[a-z]):\d{1,5}\b|\b[245]\.\d{1,3}\.\d{1,3}\b|(?<![\d.,#:])[1-5]\d\d\b(?![.,:]?\d))"
    r"|\d+(?:[.,:]\d+)*"
)

_SPACE: Final = UUID("6f2d7c7e-6a43-5b0e-9d3b-1a8f0f6a4c11")


def cause_of(error: str | None, reason: Reason | None) -> str:
    """Return what failures with the same cause share, readable for people.

    >>> cause_of("The mail server refused anna@example.org: 550 5.1.1 (q4711)", None)
    'The mail server refused <address>: 550 5.1.1 (q#)'
    """
    text = " ".join((error or "").split())[:_ERROR_MAX]
    if not text:
        return SENTENCES[reason] if reason else mark("It failed without saying why.")
    text = _QUOTED.sub(_unquoted, text)
    for pattern, instead in _PARTS:
        text = pattern.sub(instead, text)
    return _NUMBER.sub(lambda found: found["kept"] or "#", text)[:CAUSE_MAX]


def group_id(
    congregation_id: UUID, owner_id: UUID, action: str, reason: str | None, cause: str
) -> UUID:
    """Return the id of the group that a failure belongs to.

    Args:
        owner_id: the rule, or the endpoint.
    """
    parts = (congregation_id.hex, owner_id.hex, action, reason or "", cause)
    return uuid5(_SPACE, "\n".join(parts))


def _unquoted(found: re.Match[str]) -> str:
    inside = next((each for each in found.groups() if each is not None), "")
    if _NAME.fullmatch(inside):
        return found[0]
    return found[0][0] + "…" + found[0][-1]
