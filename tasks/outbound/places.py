"""Reading the address of a place to notify: a chat, a phone, an inbox of a service.

An address is Apprise's, such as ``discord://id/token`` or ``ntfys://host/topic``; what
a service's own page gives (``https://hooks.slack.com/…``) is understood as well.  It
holds the password, so it is sealed like one, and only its mask is ever shown.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from tasks.errors import InvalidInput
from tasks.outbound.hearing import heard
from tasks.outbound.services import BY_SCHEME, SERVICES, Service
from tasks.outbound.urls import URL_MAX, Target, read_url
from tasks.saying import say

if TYPE_CHECKING:
    from apprise.plugins.base import NotifyBase

#: Parts behind the ? that only say whom and how; others could weaken TLS, wait, or
#: read a file ("verify", "redirect", "template", …).
_ARGUMENTS: Final = frozenset(
    {
        *("channel", "from", "icon", "method", "priority", "silent", "sound"),
        *("source", "tags", "thread", "to", "token", "topic"),
    }
)
_SHORT: Final = 40  # characters; of a shorter address not even the end is shown
_MASK: Final = "••••"


def mask(address: str) -> str:
    """Return what may be shown of an address: the service, and how it ends.

    >>> mask("pover://user@token")
    'pover://••••'
    >>> mask("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkc")
    'https://hooks.slack.com/••••azkc'
    """
    parts = urlsplit(address)
    ending = address[-4:] if len(address) > _SHORT else ""
    # What a service's page gives begins with the service's own host: no secret.
    begin = f"https://{parts.hostname}/" if parts.scheme == "https" else ""
    return f"{begin or parts.scheme + '://'}{_MASK}{ending}"


def is_mask(text: str) -> bool:
    """Whether a text stands for an address that is kept already."""
    return _MASK in text


@dataclass(frozen=True, slots=True)
class Place:
    """One place to notify, read from its address."""

    service: Service
    plugin: NotifyBase

    @property
    def target(self) -> Target | None:
        """The host that the address names; ``None``: the provider's own.

        Raises:
            InvalidInput: it names no proper host.
        """
        plugin = self.plugin
        is_cloud = str(getattr(plugin, "mode", "")).endswith("cloud")
        if not self.service.is_hosted or is_cloud:
            return None
        web = "https" if plugin.secure or not self.service.has_plain else "http"
        port = f":{plugin.port}" if plugin.port else ""
        name = str(plugin.host).strip("[]")
        host = f"[{name}]" if ":" in name else name
        return read_url(f"{web}://{host}{port}/")


def read_place(address: str) -> Place:
    """Return the place at an address, ready to be notified.

    Raises:
        InvalidInput: nothing that may be used; the code begins with ``notify_``, or
            is ``too_long``.
        ImportError: Apprise is not installed.
    """
    address = address.replace("/#", "/%23")  # a channel, not a part of the page
    scheme = _refuse_form(address)
    with heard():  # what the library says of an address is not for the log
        if scheme == "https":
            place = _read_native(address)
        else:
            service = BY_SCHEME[scheme]
            place = _made(service, _plugin(service).parse_url(address))
    if place is None:
        raise _no(
            "notify_incomplete", say("A part of this address is missing or wrong.")
        )
    if len(place.plugin) > 1:
        raise _no(
            "notify_many",
            say(
                "Give one recipient; write a step for each, so that one that fails is "
                "tried again alone."
            ),
        )
    return place


def _read_native(address: str) -> Place | None:
    """Read what a service's own page gives to be copied."""
    for service in SERVICES.values():
        results = _plugin(service).parse_native_url(address)
        if results:
            return _made(service, results)
    raise _unknown()


def _plugin(service: Service) -> type[NotifyBase]:
    module = importlib.import_module(f"apprise.plugins.{service.module}")
    found: type[NotifyBase] = getattr(module, service.plugin)
    return found


def _made(service: Service, results: dict[str, Any] | None) -> Place | None:
    from apprise import AppriseAsset, PersistentStoreMode

    if not results:
        return None
    asset = AppriseAsset(
        app_id="Carillon",
        app_desc="",
        async_mode=False,
        http_redirects=False,
        storage_mode=PersistentStoreMode.MEMORY,  # nothing is written to disk
    )
    try:
        return Place(service, _plugin(service)(**results, asset=asset))
    except TypeError:  # what the library raises for a wrong or missing part
        return None


def _refuse_form(address: str) -> str:
    """Return the scheme of an address that may be read at all."""
    if len(address) > URL_MAX:
        raise _no(
            "too_long",
            say("The address may have at most %(max)s characters.", max=str(URL_MAX)),
        )
    if any(char.isspace() or not char.isprintable() for char in address):
        raise _no(
            "notify_malformed", say("Spaces and control characters are not allowed.")
        )
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise _no("notify_malformed", say("This is not an address.")) from error
    scheme = parts.scheme.lower()
    if scheme != "https" and scheme not in BY_SCHEME:
        raise _unknown()
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name.lower() not in _ARGUMENTS and name[:1] not in {"+", "-", ":", " "}:
            raise _no(
                "notify_argument",
                say(
                    "Leave out the part “%(name)s” behind the question mark; allowed "
                    "are %(names)s.",
                    name=name[:40],
                    names=", ".join(sorted(_ARGUMENTS)),
                ),
            )
    return scheme


def _unknown() -> InvalidInput:
    known = ", ".join(say(each.title) for each in SERVICES.values())
    return _no(
        "notify_service", say("Use an address of one of: %(known)s.", known=known)
    )


def _no(code: str, sentence: str) -> InvalidInput:
    return InvalidInput(code, sentence, field="target")
