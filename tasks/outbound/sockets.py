"""Watching the connections of a library that opens its own.

Our own HTTP connects to an address that was checked.  A library asks the name server
itself, perhaps twice, and may be sent on; so each connection is looked at in the
moment in which it is made, by Python's own audit event.  Only the thread that watches
is looked at, and no process before it first watched.  Where the environment names a
proxy, it is the proxy's address that has to be allowed.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.errors import InvalidInput
from tasks.outbound.deadline import Deadline
from tasks.outbound.guard import UrlRules, check_addresses
from tasks.outbound.urls import Target

#: Where ``struct tcp_info`` of Linux has ``tcpi_data_segs_out``.
_DATA_SEGS_OUT: Final = slice(156, 160)


class BlockedConnection(PermissionError):
    """A connection that is not allowed; libraries see it as one that failed."""


@dataclass(slots=True)
class Watch:
    """What the connections of one conversation may be, and what they were."""

    rules: UrlRules
    deadline: Deadline
    refusal: str | None = None  # a sentence; None: nothing was blocked
    _opened: list[socket.socket] = field(default_factory=list)

    @property
    def was_connected(self) -> bool:
        """Whether a connection stood, so that something may have left the house."""
        return self.deadline.has_cut or any(_has_stood(each) for each in self._opened)

    def look(self, connection: socket.socket, address: Sequence[object]) -> None:
        """Let a connection pass, under the deadline.

        Raises:
            BlockedConnection: the address is not allowed.
        """
        try:
            self._check(connection, address)
        except InvalidInput as error:
            self.refusal = error.message
            raise BlockedConnection(error.message) from error
        self.deadline.watch(connection)
        self._opened.append(connection.dup())

    def close(self) -> None:
        """Let go of what was watched."""
        for each in self._opened:
            each.close()
        self._opened.clear()

    def _check(self, connection: socket.socket, address: Sequence[object]) -> None:
        if connection.family not in {socket.AF_INET, socket.AF_INET6}:
            raise InvalidInput("url_private", "Only the network may be used.")
        host, port = str(address[0]).partition("%")[0], int(str(address[1]))
        try:
            found = ipaddress.ip_address(host)
        except ValueError as error:  # a name: nobody could say where it leads
            raise InvalidInput(
                "url_private", "The address of the host is not known."
            ) from error
        target = Target("https", host, port, "/", found)
        check_addresses(target, [found], self.rules)


@contextmanager
def watched(rules: UrlRules, deadline: Deadline) -> Iterator[Watch]:
    """Check every connection that this thread opens inside of the block."""
    _listen()
    watch = Watch(rules, deadline)
    _current.watch = watch
    try:
        yield watch
    finally:
        _current.watch = None
        watch.close()


_current: Final = threading.local()
_listening: Final = threading.Event()
_lock: Final = threading.Lock()


def _listen() -> None:
    """Hear of connections from now on; nothing can take such a hook away again."""
    with _lock:
        if not _listening.is_set():
            sys.addaudithook(_heard)
            _listening.set()


def _heard(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        watch: Watch | None = getattr(_current, "watch", None)
        if watch is not None:
            watch.look(*args)


def _has_stood(connection: socket.socket) -> bool:
    try:
        connection.getpeername()
    except OSError:  # it never stood, or the other side has cut it
        return _n_sent(connection) > 0
    return True


def _n_sent(connection: socket.socket) -> int:
    """Return how many segments with data were sent; only Linux tells."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return 0
    info = connection.getsockopt(socket.IPPROTO_TCP, option, _DATA_SEGS_OUT.stop)
    return int.from_bytes(info[_DATA_SEGS_OUT], sys.byteorder)
