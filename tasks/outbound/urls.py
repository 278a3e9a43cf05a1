"""Reading the address of a webhook: one parser, and nothing odd passes."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from tasks.errors import InvalidInput
from tasks.outbound.networks import Address
from tasks.saying import say

URL_MAX: Final = 2048  # characters
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_AUTHORITY: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)")
_PORT: Final = re.compile(r":([^\]:]*)$")
_NUMBER: Final = re.compile(r"(?:[0-9]+|0[xX][0-9a-fA-F]*)")
#: Names that only mean something at home.
_HOME_SUFFIXES: Final = (".local", ".internal", ".localhost", ".home.arpa", ".lan")


@dataclass(frozen=True, slots=True)
class Target:
    """A web address taken apart and safe to put together again."""

    scheme: str  # "http" or "https"
    host: str  # lower case, ASCII (IDNA), without brackets
    port: int
    path: str  # with the query, never empty
    address: Address | None  # None: the host is a name

    @property
    def authority(self) -> str:
        """The host as it stands in a URL and in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_default = self.port == _DEFAULT_PORTS[self.scheme]
        return host if is_default else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address, in its one canonical form."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def is_home_name(self) -> bool:
        """Whether the host is a name that only means something in a local network."""
        return self.address is None and (
            "." not in self.host or self.host.endswith(_HOME_SUFFIXES)
        )


def read_url(text: str) -> Target:
    """Take a web address apart.

    Raises:
        InvalidInput: not a plain http(s) address; the code begins with ``url_``, or
            is ``too_long``.
    """
    _refuse_characters(text)
    authority = _AUTHORITY.match(text)
    if authority is not None:
        _refuse_authority(authority.group(1))
    try:
        parts = parse_url(text)
    except LocationParseError as error:
        raise _no("url_malformed", say("This is not a web address.")) from error
    scheme = _scheme(parts)
    if authority is None or not parts.host:
        raise _no(
            "url_malformed", say("The address needs a host, as in https://host/path.")
        )
    if parts.fragment is not None:
        raise _no(
            "url_malformed", say("Leave out the part from # on; it is never sent.")
        )
    host, address = _host(parts.host)
    path = (parts.path or "/") + ("" if parts.query is None else f"?{parts.query}")
    return Target(scheme, host, parts.port or _DEFAULT_PORTS[scheme], path, address)


def led_on(url: str, location: str) -> str:
    """Return where an answer's ``Location`` leads, as text that is not checked yet.

    >>> led_on("https://example.org/feed", "/feed.xml")
    'https://example.org/feed.xml'
    >>> led_on("https://example.org/feed", "http://[::1")
    'http://[::1'
    """
    try:
        return urljoin(url, location)
    except ValueError:  # it is no address at all, which whoever reads it says
        return location


def _refuse_characters(text: str) -> None:
    if len(text) > URL_MAX:
        raise _no(
            "too_long",
            say("The address may have at most %(max)s characters.", max=str(URL_MAX)),
        )
    if "\\" in text:
        raise _no("url_malformed", say("A backslash is not allowed in the address."))
    if any(char.isspace() or not char.isprintable() for char in text):
        raise _no(
            "url_malformed", say("Spaces and control characters are not allowed.")
        )


def _refuse_authority(authority: str) -> None:
    if "@" in authority:
        raise _no("url_userinfo", say("User names are not allowed in the address."))
    if "%" in authority:  # an IPv6 zone, or a host in disguise
        raise _odd_host()
    port = _PORT.search(authority)
    if port is None or port.group(1) == "":
        return
    digits = port.group(1)
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits[:9]) <= 65_535):
        raise _no("url_port", say("The port must be a number from 1 to 65535."))


def _scheme(parts: Url) -> str:
    if parts.scheme is None:
        raise _no(
            "url_malformed", say("The address must begin with https:// and a host.")
        )
    if parts.scheme not in _DEFAULT_PORTS:
        raise _no("url_scheme", say("Only https:// addresses are allowed."))
    return parts.scheme


def _host(host: str) -> tuple[str, Address | None]:
    """Return the host in its one form, and its address when it is a literal one."""
    if host.startswith("["):
        try:
            return str(v6 := ipaddress.IPv6Address(host[1:-1])), v6
        except ValueError as error:
            raise _odd_host() from error
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return name, None
    if name != host.lower() or not name:
        raise _no("url_host_form", say("Leave out the dot at the end of the host."))
    if _NUMBER.fullmatch(name.rsplit(".", 1)[-1]) or _is_odd_number(name):
        try:
            return name, ipaddress.IPv4Address(name)
        except ValueError as error:
            raise _odd_host() from error
    return name, None


def _is_odd_number(name: str) -> bool:
    """Whether the C library reads ``name`` as an address: 127.1, 0x7f.1, 2130706433."""
    try:
        socket.inet_aton(name)
    except (OSError, UnicodeError):
        return False
    return True


def _odd_host() -> InvalidInput:
    return _no(
        "url_host_form", say("Write the host as a name or as a dotted IPv4 address.")
    )


def _no(code: str, sentence: str) -> InvalidInput:
    return InvalidInput(code, sentence, field="url")
