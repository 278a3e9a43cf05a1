"""Why a text is no e-mail address: what the library says, in the present language."""

from __future__ import annotations

import re
from typing import Final

from email_validator import EmailNotValidError

from tasks.saying import mark, say, say_many

_SAID: Final = frozenset(
    {
        mark("An email address must have an @-sign."),
        mark("There must be something before the @-sign."),
        mark("There must be something after the @-sign."),
        mark("An email address cannot have two periods in a row."),
        mark("An email address cannot have a period and a hyphen next to each other."),
        mark("An email address cannot start with a period."),
        mark("An email address cannot end with a period."),
        mark("An email address cannot end with a hyphen."),
        mark("An email address cannot have a period immediately before the @-sign."),
        mark("An email address cannot have a period immediately after the @-sign."),
        mark("An email address cannot have a hyphen immediately after the @-sign."),
        mark("Quoting the part before the @-sign is not allowed here."),
        mark("A bracketed IP address after the @-sign is not allowed here."),
        mark("The part after the @-sign is not valid. It should have a period."),
        mark(
            "The part after the @-sign is not valid. It is not within a valid "
            "top-level domain."
        ),
        mark(
            "The part after the @-sign is a special-use or reserved name that cannot "
            "be used with email."
        ),
        mark(
            "A display name and angle brackets around the email address are not "
            "permitted here."
        ),
    }
)
#: Sentences of which the end tells what was found.
_BEGINNINGS: Final = (
    mark("The email address contains invalid characters before the @-sign: %(found)s"),
    mark("The part after the @-sign contains invalid characters: %(found)s"),
    mark("The email address contains unsafe characters: %(found)s"),
)
_TOO_LONG: Final = (
    mark("The email address is too long before the @-sign %(found)s"),
    mark("The email address is too long after the @-sign %(found)s"),
    mark("The email address is too long %(found)s"),
)
#: How much too long it is was told in a way that we do not know.
_SIMPLY_TOO_LONG: Final = mark("The email address is too long.")
_N_TOO_MANY: Final = re.compile(r"\((\d+) characters? too many\)\.")


def why_no_address(error: EmailNotValidError) -> str:
    """Return what the library found; what it rarely says stays as it is."""
    message = str(error)
    if message in _SAID:
        return say(message)
    for text in _BEGINNINGS:
        beginning, _, _ = text.partition("%(found)s")
        if message.startswith(beginning):
            return say(text, found=message.removeprefix(beginning))
    return _too_long(message) or message


def _too_long(message: str) -> str | None:
    for text in _TOO_LONG:
        beginning, _, _ = text.partition("%(found)s")
        end = _N_TOO_MANY.fullmatch(message.removeprefix(beginning))
        if message.startswith(beginning) and end:
            n = int(end[1])
            found = say_many(
                n, "(%(n)s character too many).", "(%(n)s characters too many)."
            )
            return say(text, found=found)
    if message.startswith(_SIMPLY_TOO_LONG.removesuffix(".")):
        return say(_SIMPLY_TOO_LONG)
    return None
