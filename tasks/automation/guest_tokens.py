"""A guest's access token: in a mail to that guest, and nowhere else.

Text and HTML of a mail to the guest may have ``guest.access_token``, as in a link to
the guest's own page.  They are composed with a stand-in.  So whatever is previewed,
kept, edited or exported has only that; the token takes its place as the mail leaves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final
from urllib.parse import quote

from tasks.saying import mark

VARIABLE: Final = "guest.access_token"
_GROUP, _FIELD = VARIABLE.split(".")
#: The parts of a mail that may have it; subjects stand in too many lists.
PARTS: Final = ("text", "html")
#: What stands for the token; no filter that makes texts safe changes it.
STAND_IN: Final = "GUEST-ACCESS-TOKEN"
#: The stand-in, and the address before it if it stands in one.
_PLACE: Final = re.compile(
    rf"(?P<address>https?://[^\s<>\"']*?)?{STAND_IN}", re.IGNORECASE
)
#: What is said of a mail that would carry it to somebody else.
ELSEWHERE: Final = mark(
    "guest.access_token goes only to the address on the guest’s record, and only if "
    "the guest has one."
)


def usable(
    settings: Mapping[str, Any], part: str, variables: Sequence[str]
) -> Sequence[str]:
    """Return what a part of a mail may use: the token as well, if it is the guest's."""
    is_theirs = settings.get("recipient") == "guest" and "guest.email" in variables
    return (*variables, VARIABLE) if is_theirs and part in PARTS else variables


def is_wanted(settings: Mapping[str, Any]) -> bool:
    """Whether the templates of a mail may ask for the token."""
    return settings.get("recipient") == "guest" and any(
        _FIELD in str(settings.get(part) or "") for part in PARTS
    )


def with_stand_in(
    settings: Mapping[str, Any], context: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the context with the stand-in, unless it says already what there is."""
    if not is_wanted(settings):
        return context
    guest = context.get(_GROUP)
    told = guest if isinstance(guest, Mapping) else {}
    return {**context, _GROUP: {_FIELD: STAND_IN, **told}}


def lent(context: Mapping[str, Any], *, has_token: bool) -> dict[str, Any]:
    """Return a context that says whether there is a token for this mail."""
    told = STAND_IN if has_token else None
    return {**context, _GROUP: {**context[_GROUP], _FIELD: told}}


def is_in(message: Mapping[str, Any]) -> bool:
    """Whether a token has to take a place in a mail."""
    return any(_PLACE.search(text) for text in _texts(message).values())


def put_in(message: Mapping[str, Any], token: str | None) -> Mapping[str, Any]:
    """Return the mail as it leaves, with the token; ``None``: as it was composed.

    Within an address it is written as addresses want it, in HTML as HTML does.
    """
    if token is None:
        return message

    def filled(part: str, text: str) -> str:
        plain = escape(token) if part == "html" else token

        def take(found: re.Match[str]) -> str:
            address: str | None = found["address"]
            return plain if address is None else address + quote(token, safe="")

        return _PLACE.sub(take, text)

    texts = {part: filled(part, text) for part, text in _texts(message).items()}
    return {**message, **texts}


def _texts(message: Mapping[str, Any]) -> dict[str, str]:
    found: Iterable[tuple[str, Any]] = ((part, message.get(part)) for part in PARTS)
    return {part: text for part, text in found if isinstance(text, str)}
