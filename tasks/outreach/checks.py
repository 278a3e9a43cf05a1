"""What producers and operators say about contacts and engagements is checked here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from tasks.automation.checks import checked_instant
from tasks.automation.fields import Check, optional, required, text, timezone
from tasks.errors import InvalidInput
from tasks.models.base import Json
from tasks.models.outreach_campaign import CAP_MAX
from tasks.outbound.mailboxes import BadAddress, normal_address
from tasks.saying import say

#: Metadata of one contact or engagement as JSON, in bytes; both fit into one event.
DETAILS_MAX: Final = 16 * 1024
#: … and its levels of objects and lists.
_LEVELS_MAX: Final = 10
STAGE_MAX: Final = 120
NAME_MAX: Final = 120
CAMPAIGN_MAX: Final = 80
_CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


def checked_address(value: object, field: str) -> str:
    """Return an e-mail address in the form in which addresses are compared.

    Raises:
        InvalidInput: it is not one plain address.
    """
    try:
        return normal_address(value if isinstance(value, str) else "")
    except BadAddress as error:
        raise InvalidInput("email_invalid", str(error), field=field) from error


def details(value: object, field: str) -> Json:
    """Return metadata as it is stored; ``None`` empties it.

    Raises:
        InvalidInput: it is no JSON object, too large or too deep.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(
            "bad_metadata",
            say("%(field)s must be an object.", field=field),
            field=field,
        )
    _refuse_odd(value, field, 1)
    try:
        size = len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError) as error:  # also lone surrogates
        raise InvalidInput(
            "bad_metadata",
            say(
                "%(field)s cannot be written as JSON: %(error)s.",
                field=field,
                error=error,
            ),
            field=field,
        ) from error
    if size > DETAILS_MAX:
        raise InvalidInput(
            "metadata_too_large",
            say(
                "%(field)s has %(size)s bytes as JSON; at most %(max)s are accepted.",
                field=field,
                size=size,
                max=DETAILS_MAX,
            ),
            field=field,
        )
    return dict(value)


def _refuse_odd(value: Any, field: str, level: int) -> None:  # noqa: ANN401  # any JSON
    if isinstance(value, str) and "\0" in value:
        raise InvalidInput(
            "bad_metadata",
            say("%(field)s must not contain NUL characters.", field=field),
            field=field,
        )
    if not isinstance(value, Mapping | list):
        return
    if level > _LEVELS_MAX:
        raise InvalidInput(
            "bad_metadata",
            say(
                "%(field)s has more than %(max)s levels.", field=field, max=_LEVELS_MAX
            ),
            field=field,
        )
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInput(
                    "bad_metadata",
                    say("The names in %(field)s must be text.", field=field),
                    field=field,
                )
            _refuse_odd(key, field, level + 1)
    for each in value.values() if isinstance(value, Mapping) else value:
        _refuse_odd(each, field, level + 1)


def _clock(value: object, field: str) -> str:
    if isinstance(value, str) and _CLOCK.fullmatch(value):
        return value
    raise InvalidInput(
        "bad_clock",
        say("%(field)s must be a time of day such as 18:30.", field=field),
        field=field,
    )


def _switch(value: object, field: str) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidInput(
        "bad_switch", say("%(field)s must be true or false.", field=field), field=field
    )


def _daily_cap(value: object, field: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= CAP_MAX:
        return value
    raise InvalidInput(
        "bad_cap",
        say(
            "%(field)s must be a whole number from 1 to %(max)s, or empty "
            "for no cap; to wake nobody at all, pause.",
            field=field,
            max=CAP_MAX,
        ),
        field=field,
    )


def _campaign(value: object, field: str) -> str | None:
    name: str = text(CAMPAIGN_MAX)(value, field)
    if "/" in name:  # it stands in addresses of the API
        raise InvalidInput(
            "bad_name",
            say("%(field)s must not contain a slash.", field=field),
            field=field,
        )
    return name or None


#: A cap on wake-ups a day; None and empty: there is none.
DAILY_CAP: Final[Check] = optional(_daily_cap)
#: The name of a campaign; None and empty: none.
CAMPAIGN: Final[Check] = _campaign

#: The fields of a contact that others than we may change.
CONTACT: Final[Mapping[str, Check]] = {
    "display_name": text(NAME_MAX),
    "metadata": details,
}
#: … and those of an engagement; what is not here is the server's own.
ENGAGEMENT: Final[Mapping[str, Check]] = {
    "stage": text(STAGE_MAX),
    "next_action_at": optional(checked_instant),
    "metadata": details,
    "campaign": CAMPAIGN,
    "stop_on_reply": required(_switch),
    "quiet_from": optional(_clock),
    "quiet_until": optional(_clock),
    "timezone": timezone,
}


def check_quiet(quiet_from: str | None, quiet_until: str | None) -> None:
    """Refuse quiet hours without a beginning, an end, or a length.

    Raises:
        InvalidInput: only one is there, or both are the same.
    """
    if (quiet_from is None) != (quiet_until is None):
        missing = "quiet_from" if quiet_from is None else "quiet_until"
        raise InvalidInput(
            "quiet_hours",
            say("Quiet hours need both a beginning and an end; clear both for none."),
            field=missing,
        )
    if quiet_from is not None and quiet_from == quiet_until:
        raise InvalidInput(
            "quiet_hours",
            say("Quiet hours that end where they begin would leave no time to act."),
            field="quiet_until",
        )
