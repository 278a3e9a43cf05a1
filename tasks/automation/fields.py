"""The fields of records that producers keep here: cleaned, or refused in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from email_validator import EmailNotValidError, validate_email

from tasks.automation.checks import checked_id, checked_instant, checked_timezone
from tasks.errors import InvalidInput
from tasks.outbound.mailbox_words import why_no_address
from tasks.outbound.mailboxes import one_spelling
from tasks.saying import say

#: Checks one value and returns it as it is stored; the second argument is its name.
Check = Callable[[Any, str], Any]

NUMBER_MAX: Final = 1_000_000
_URL_MAX: Final = 2048


def checked(
    values: Mapping[str, object], checks: Mapping[str, Check]
) -> dict[str, Any]:
    """Return the values as they are stored; what is not mentioned stays absent.

    Raises:
        InvalidInput: a field is not known, or its value cannot be accepted.
    """
    unknown = sorted(values.keys() - checks.keys())
    if unknown:
        raise InvalidInput(
            "unknown_field",
            say(
                "There is no field %(name)s; there are: %(names)s.",
                name=repr(unknown[0]),
                names=", ".join(checks),
            ),
            field=unknown[0],
        )
    return {name: checks[name](value, name) for name, value in values.items()}


def text(limit: int, *, required: bool = False, lines: bool = False) -> Check:
    """Return a check of text of up to ``limit`` characters; ``None`` becomes empty."""

    def check(value: object, field: str) -> str:
        clean = _cleaned(value, field, lines=lines)
        if len(clean) > limit:
            raise InvalidInput(
                "too_long",
                say(
                    "%(field)s has %(n)s characters; at most %(max)s are accepted.",
                    field=field,
                    n=str(len(clean)),
                    max=str(limit),
                ),
                field=field,
            )
        if required and not clean:
            problem = say("%(field)s must not be empty.", field=field)
            raise InvalidInput("required", problem, field=field)
        return clean

    return check


def optional(check: Check) -> Check:
    """Return a check that lets ``None`` (and empty text) clear the field."""
    return lambda value, field: None if value in (None, "") else check(value, field)


def required(check: Check) -> Check:
    """Return a check that refuses ``None``."""

    def inner(value: object, field: str) -> Any:  # noqa: ANN401  # as the check says
        if value is None:
            problem = say("%(field)s cannot be cleared.", field=field)
            raise InvalidInput("required", problem, field=field)
        return check(value, field)

    return inner


def email(value: object, field: str) -> str:
    """Check one e-mail address, without asking the network."""
    try:
        return one_spelling(validate_email(str(value), check_deliverability=False))
    except EmailNotValidError as error:
        problem = say(
            "%(field)s must be one e-mail address: %(error)s",
            field=field,
            error=why_no_address(error),
        )
        raise InvalidInput("bad_email", problem, field=field) from error


def url(value: object, field: str) -> str:
    """Check an http or https address."""
    address = _cleaned(value, field, lines=False)
    try:
        parts = urlsplit(address)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good or len(address) > _URL_MAX or " " in address:
        raise InvalidInput(
            "bad_url",
            say(
                "%(field)s must be an http or https address of up to %(max)s "
                "characters.",
                field=field,
                max=str(_URL_MAX),
            ),
            field=field,
        )
    return address


def number(value: object, field: str) -> int:
    """Check a whole number from 0 to ``NUMBER_MAX``."""
    if (
        isinstance(value, int)
        and not isinstance(value, bool)
        and 0 <= value <= NUMBER_MAX
    ):
        return value
    raise InvalidInput(
        "bad_number",
        say(
            "%(field)s must be a whole number from 0 to %(max)s.",
            field=field,
            max=str(NUMBER_MAX),
        ),
        field=field,
    )


#: An id of another record; the record may be told later.
reference: Final[Check] = optional(checked_id)
instant: Final[Check] = required(checked_instant)
timezone: Final[Check] = optional(checked_timezone)


def _cleaned(value: object, field: str, *, lines: bool) -> str:
    """Return composed text without space around it; control characters are refused."""
    if value is None:
        return ""
    if not isinstance(value, str):
        problem = say("%(field)s must be text.", field=field)
        raise InvalidInput("bad_text", problem, field=field)
    clean = unicodedata.normalize("NFC", value).strip()
    allowed = "\n\r\t" if lines else ""
    for char in clean:
        if unicodedata.category(char) in {"Cc", "Cs"} and char not in allowed:
            raise InvalidInput(
                "control_character",
                say(
                    "%(field)s must not contain the control character %(char)s.",
                    field=field,
                    char=repr(char),
                ),
                field=field,
            )
    return clean
