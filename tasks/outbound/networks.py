"""Which addresses the house may talk to, and asking for the addresses of a name."""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Networks that ``is_global`` lets pass, on some Python or other, and we do not:
#: this machine, neighbours, shared and test ranges, cloud metadata, multicast, and
#: the IPv6 ranges that carry an IPv4 address inside.
_DENIED: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",
        "::ffff:0:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/32",
        "2001:db8::/32",
        "2002::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)


class NotResolved(Exception):
    """The name has no address; the text says why, in a few words."""


#: Returns every address of a host name; raises NotResolved.
Resolver = Callable[[str, float], Sequence[Address]]


def is_within(address: Address, networks: Iterable[Network]) -> bool:
    """Whether ``address`` lies in one of ``networks``."""
    plain = _unmapped(address)
    return any(
        plain in network for network in networks if network.version == plain.version
    )


def is_public(address: Address) -> bool:
    """Whether ``address`` is an ordinary address of the open internet."""
    plain = _unmapped(address)
    return plain.is_global and not is_within(plain, _DENIED)


def resolve(host: str, seconds: float) -> Sequence[Address]:
    """Ask the system for every address of ``host``, for at most ``seconds``.

    Raises:
        NotResolved: there is none, or no answer came in time.
    """
    answers: queue.SimpleQueue[list[Address] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            answers.put(error if isinstance(error, OSError) else OSError(str(error)))
            return
        names = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
        answers.put([ipaddress.ip_address(name) for name in names])

    # A thread, because nothing can interrupt the system's resolver.
    threading.Thread(target=ask, daemon=True, name="resolve").start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty as error:
        raise NotResolved("the name server does not answer") from error
    if isinstance(answer, OSError):
        raise NotResolved("there is no such host") from answer
    return answer


def _unmapped(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
