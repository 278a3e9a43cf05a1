"""Addresses in settings: taken apart, or refused without being repeated."""

from __future__ import annotations

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
