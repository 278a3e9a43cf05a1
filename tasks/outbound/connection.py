"""An HTTP connection to a checked address, under a deadline."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from typing import Final

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from tasks.outbound.deadline import Deadline
from tasks.outbound.networks import Address
from tasks.outbound.urls import Target

CONNECT_SECONDS: Final = 5.0
#: So many addresses of a host are tried.
ADDRESSES_MAX: Final = 3


class _PlainConnection(HTTPConnection):
    """Connects to the pinned address, watched by the deadline from the first packet."""

    deadline: Deadline

    def _new_conn(self) -> socket.socket:
        made = super()._new_conn()
        self.deadline.watch(made)
        return made


class _TlsConnection(HTTPSConnection):
    """The same, with TLS that is checked against the host's name, not the address."""

    deadline: Deadline

    def _new_conn(self) -> socket.socket:
        made = super()._new_conn()
        self.deadline.watch(made)
        return made


def open_connection(
    target: Target,
    pinned: Sequence[Address],
    deadline: Deadline,
    tls: ssl.SSLContext,
) -> HTTPConnection:
    """Connect to one of ``pinned``, and to nothing that a second look-up might answer.

    The next one is tried where nobody answers at one: a host may have an address that
    does not lead there from here.

    Raises:
        urllib3.exceptions.HTTPError, OSError: it cannot be reached in time.
    """
    *first, last = pinned[:ADDRESSES_MAX]
    for each in first:
        try:
            return _connect(target, each, deadline, tls)
        except (NewConnectionError, ConnectTimeoutError):
            if deadline.has_passed:
                raise
    return _connect(target, last, deadline, tls)


def _connect(
    target: Target, pinned: Address, deadline: Deadline, tls: ssl.SSLContext
) -> HTTPConnection:
    seconds = min(CONNECT_SECONDS, deadline.remaining)
    connection: _PlainConnection | _TlsConnection
    if target.scheme == "https":
        connection = _TlsConnection(
            str(pinned),
            target.port,
            timeout=seconds,
            ssl_context=tls,
            server_hostname=target.host,
        )
    else:
        connection = _PlainConnection(str(pinned), target.port, timeout=seconds)
    connection.deadline = deadline
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    if connection.sock is not None:
        connection.sock.settimeout(deadline.remaining)
    return connection
