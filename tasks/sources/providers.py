"""The booking services that may call: one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tasks.models.source import SourceKind
from tasks.saying import mark
from tasks.sources import calcom, calendly
from tasks.sources.told import Read, Verify


@dataclass(frozen=True, slots=True)
class Provider:
    """One service: how its calls are checked and read, and what operators do there."""

    title: str
    prefix: str  # of the ids of its bookings
    verify: Verify
    read: Read
    secret_name: str  # what the service calls the secret
    steps: tuple[str, ...]  # what to do over there, one sentence each
    event_type_help: str  # how the service names what can be booked


PROVIDERS: Final[Mapping[SourceKind, Provider]] = {
    SourceKind.CALCOM: Provider(
        title="Cal.com",
        prefix="cal:",
        verify=calcom.verify,
        read=calcom.read,
        secret_name=mark("Secret"),
        steps=(
            mark("At Cal.com open Settings, Developer, Webhooks, and choose New."),
            mark("Paste the address as Subscriber URL and the secret as Secret."),
            mark(
                "Choose the triggers Booking Created, Rescheduled, Cancelled, "
                "Requested and Rejected; leave the custom payload off."
            ),
            mark("Press Ping test: the call appears among the last ones as ignored."),
        ),
        event_type_help=mark("the last part of its address at Cal.com, such as 30min"),
    ),
    SourceKind.CALENDLY: Provider(
        title="Calendly",
        prefix="calendly:",
        verify=calendly.verify,
        read=calendly.read,
        secret_name=mark("Signing key"),
        steps=(
            mark(
                "Calendly takes webhooks through its API: POST to "
                "https://api.calendly.com/webhook_subscriptions."
            ),
            mark("Give the address as url and the secret as signing_key."),
            mark("Give invitee.created and invitee.canceled as events."),
        ),
        event_type_help=mark("its name at Calendly, such as 30 Minute Meeting"),
    ),
}
