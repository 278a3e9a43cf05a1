"""The kinds of values that the API takes; each refusal is a sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from email_validator import EmailNotValidError, validate_email
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
)
from pydantic_core import PydanticCustomError

from tasks.outbound.mailboxes import one_spelling

_INSTANT_EXAMPLE: Final = "2026-03-10T14:00:00+01:00"
_YEARS: Final = range(2000, 2200)
_ID_MAX: Final = 64
_ID_SIGNS: Final = frozenset("_-.:@")


class Input(BaseModel):
    """What a request gives: nothing unknown, nothing converted behind one's back."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean x?" or nothing.

    >>> nearest("guest_nmae", ["guest_name", "guest_email"])
    '; did you mean guest_name?'
    >>> nearest("colour", ["guest_name"])
    ''
    """
    found = difflib.get_close_matches(word[:80], list(known), n=1, cutoff=0.7)
    return f"; did you mean {found[0]}?" if found else ""


def refusal(code: str, sentence: str) -> PydanticCustomError:
    """Return a refusal whose sentence may hold braces of the caller."""
    return PydanticCustomError(code, "{sentence}", {"sentence": sentence})


def _instant(value: object) -> datetime:
    if not isinstance(value, str):
        raise refusal(
            "date_invalid",
            f"must be a date and time as text, such as {_INSTANT_EXAMPLE}.",
        )
    try:
        instant = datetime.fromisoformat(value.strip())
    except ValueError:
        raise refusal(
            "date_invalid",
            f"{value[:80]!r} is no date and time; write it like {_INSTANT_EXAMPLE}.",
        ) from None
    if instant.tzinfo is None:
        raise refusal(
            "date_without_offset",
            "needs an offset from UTC, since the same hour is another instant "
            f"elsewhere; write it like {_INSTANT_EXAMPLE} or with a Z at the end.",
        )
    if instant.year not in _YEARS:
        raise refusal(
            "date_out_of_range",
            f"must lie between the years {_YEARS[0]} and {_YEARS[-1]}.",
        )
    return instant.astimezone(UTC)


def _external_id(value: str) -> str:
    if not value:
        raise refusal("id_invalid", "must not be empty.")
    if len(value) > _ID_MAX:
        raise refusal("too_long", f"may have at most {_ID_MAX} characters.")
    if not all(c.isascii() and (c.isalnum() or c in _ID_SIGNS) for c in value):
        raise refusal(
            "id_invalid", "may hold only letters, digits and the signs _ - . : @"
        )
    return value


def _line(value: str) -> str:
    if not value.isprintable():
        raise refusal("control_chars", "must be one line without control characters.")
    return value.strip()


def _timezone(value: str) -> str:
    known = _timezones()
    if value not in known:
        hint = nearest(value, known)
        raise refusal(
            "unknown_timezone",
            f"{value[:80]!r} is no time zone{hint or ', such as Europe/Berlin.'}",
        )
    return value


@cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones())


def _email(value: str) -> str:
    try:
        # Whether an address can be reached shows when something is sent to it.
        return one_spelling(validate_email(value, check_deliverability=False))
    except EmailNotValidError as error:
        raise refusal(
            "email_invalid", f"must be one e-mail address. {error}"
        ) from error


def _web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc or " " in value:
        raise refusal(
            "url_invalid", "must be a web address that begins with https:// or http://."
        )
    return value


def _words(max_length: int) -> Any:  # noqa: ANN401  # what Annotated takes
    return StringConstraints(max_length=max_length)


Instant = Annotated[datetime, BeforeValidator(_instant)]
ExternalIdText = Annotated[str, AfterValidator(_external_id)]
Line40 = Annotated[str, _words(40), AfterValidator(_line)]
Line64 = Annotated[str, _words(64), AfterValidator(_line)]
Line80 = Annotated[str, _words(80), AfterValidator(_line)]
Line120 = Annotated[str, _words(120), AfterValidator(_line)]
Line200 = Annotated[str, _words(200), AfterValidator(_line)]
Line255 = Annotated[str, _words(255), AfterValidator(_line)]
Text20k = Annotated[str, _words(20_000)]
Timezone = Annotated[str, AfterValidator(_timezone)]
Email = Annotated[str, _words(254), AfterValidator(_line), AfterValidator(_email)]
WebAddress = Annotated[
    str, _words(2048), AfterValidator(_line), AfterValidator(_web_address)
]
