"""Addresses in settings: taken apart, or refused without being repeated."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from tasks.errors import ConfigError


def parts_of(name: str, value: str) -> SplitResult:
    """Return the parts of an address; its port can be asked for.

    Raises:
        ConfigError: it cannot be read.  It is not repeated, since it may hold a
            password.
    """
    try:
        parts = urlsplit(value)
        _ = parts.port  # is read when it is asked for
    except ValueError as error:
        raise ConfigError(
            f"{name} is no address that can be read. Signs such as / # [ ] in a user "
            "name or password are written as %2F %23 %5B %5D, and a port is a number."
        ) from error
    return parts


def bracketed(host: str) -> str:
    """Return a host as it stands in addresses.

    >>> bracketed("::1")
    '[::1]'
    """
    return f"[{host}]" if ":" in host else host


def checked_base_url(value: str) -> str:
    """Return the console's address as browsers write it, without a slash at the end.

    Raises:
        ConfigError: it is no scheme and host, with a port at most.
    """
    parts = parts_of("BASE_URL", value)
    host = parts.netloc.lower()
    is_plain = re.fullmatch(r"[0-9a-z.:_\[\]-]+", host) and parts.hostname
    if parts.scheme not in {"http", "https"} or not is_plain or set(value) & {*"?#"}:
        raise ConfigError(
            "BASE_URL must be the console's address and nothing behind it, such as "
            "https://carillon.example.org. A host with other letters is written with "
            "xn--, as browsers send it."
        )
    if parts.path not in {"", "/"}:
        raise ConfigError(
            "BASE_URL must name a host of its own, not a path of one: give the console "
            "an address such as https://carillon.example.org."
        )
    return f"{parts.scheme}://{host}"
