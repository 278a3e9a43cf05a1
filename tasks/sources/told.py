"""What a booking service told us, in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tasks.automation.bookings import BookingValues


class Verb(StrEnum):
    """What happened to a booking over there."""

    REQUESTED = "requested"
    CONFIRMED = "confirmed"
    RESCHEDULED = "rescheduled"
    CANCELLED = "cancelled"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class Told:
    """One message about one booking."""

    verb: Verb
    event: str  # in the service's words
    external_id: str
    former_id: str | None  # the id that the booking had before it moved
    at: datetime  # when the service said it; older messages do not undo newer ones
    event_types: tuple[str, ...]  # names of what was booked, the most exact first
    #: Reads what else the message says; raises InvalidInput when it makes no sense.
    values: Callable[[], BookingValues]


@dataclass(frozen=True, slots=True)
class Passed:
    """A message that changes no booking; the sentence says why."""

    event: str
    sentence: str


class BadSignature(Exception):
    """Nobody can tell who sent the call; the text is a sentence for its sender."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


#: Reads a service's JSON object; raises InvalidInput when it makes no sense.
Read = Callable[[Mapping[str, object]], Told | Passed]


@dataclass(frozen=True, slots=True)
class Signed:
    """A call as it came over the wire."""

    headers: Mapping[str, str]  # names in lower case
    body: bytes
    received_at: datetime


#: Raises BadSignature unless the call was signed with the secret.
Verify = Callable[[str, Signed], None]
