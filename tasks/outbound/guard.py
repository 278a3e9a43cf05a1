"""Where webhooks may go: the rules of this installation, applied to one target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tasks.config import Config
from tasks.errors import InvalidInput
from tasks.outbound.networks import Address, Network, is_public, is_within
from tasks.outbound.urls import Target
from tasks.saying import mark, say

_PRIVATE: Final = mark(
    "This address points to a private or local address, which is not allowed. "
    "An administrator can allow its network with WEBHOOK_ALLOW."
)


@dataclass(frozen=True, slots=True)
class UrlRules:
    """What an administrator allows; the default is the strictest."""

    allow: tuple[Network, ...] = ()  # private networks that may be reached
    http: bool = False
    ports: frozenset[int] = frozenset({80, 443, 8443})

    @classmethod
    def of(cls, config: Config) -> UrlRules:
        """Return the rules that the settings make."""
        return cls(config.webhook_allow, config.webhook_http, config.webhook_ports)


def check_form(target: Target, rules: UrlRules) -> None:
    """Refuse what no answer of a name server could make good.

    Raises:
        InvalidInput: ``url_insecure``, ``url_private`` or ``url_port``.
    """
    if target.scheme == "http" and not rules.http:
        raise _no("url_insecure", say("Only https:// addresses are allowed."))
    if target.address is not None:
        check_addresses(target, [target.address], rules)
    elif target.is_home_name and not rules.allow:
        raise _no("url_private", say(_PRIVATE))
    elif target.port not in rules.ports and not rules.allow:
        raise _bad_port(rules)


def check_addresses(
    target: Target, addresses: Sequence[Address], rules: UrlRules
) -> None:
    """Refuse a target unless every one of its addresses is allowed.

    All must pass, because the one that is connected to is the other side's choice.

    Raises:
        InvalidInput: ``url_private`` or ``url_port``.
    """
    for address in addresses:
        if is_within(address, rules.allow):
            continue  # an administrator named this network: any port of it is meant
        if not is_public(address):
            raise _no("url_private", say(_PRIVATE))
        if target.port not in rules.ports:
            raise _bad_port(rules)


def _bad_port(rules: UrlRules) -> InvalidInput:
    ports = ", ".join(str(port) for port in sorted(rules.ports))
    return _no(
        "url_port", say("This port is not allowed; allowed are %(ports)s.", ports=ports)
    )


def _no(code: str, sentence: str) -> InvalidInput:
    return InvalidInput(code, sentence, field="url")
