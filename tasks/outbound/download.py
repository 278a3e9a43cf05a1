"""Fetching a large file: from listed hosts only, guarded, pinned, within minutes."""

from __future__ import annotations

import errno
import http.client
import ssl
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date
from email.utils import parsedate_to_datetime
from typing import BinaryIO, Final

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from tasks.congregation.addresses.downloading import (
    OPEN_DATA_HOSTS,
    Downloaded,
    NotDownloaded,
    OnBytes,
)
from tasks.errors import InvalidInput
from tasks.outbound.connection import CONNECT_SECONDS, open_connection
from tasks.outbound.deadline import Deadline
from tasks.outbound.guard import UrlRules, check_addresses, check_form
from tasks.outbound.networks import NotResolved, Resolver, resolve
from tasks.outbound.urls import Target, led_on, read_url
from tasks.saying import mark, say
from tasks.saying.kept import kept

#: A whole file may take so long; 500 MB then need less than a megabyte a second.
TOTAL_SECONDS: Final = 900.0
#: So long nothing at all may come.
IDLE_SECONDS: Final = 30.0
SIZE_MAX: Final = 500_000_000
REDIRECTS_MAX: Final = 5
_CHUNK: Final = 1 << 18
#: No size is longer, and Python refuses to read numbers of thousands of digits.
_DIGITS_MAX: Final = 18
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
#: Answers that may be others soon.
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_FAILURES: Final = (HTTPError, http.client.HTTPException, OSError)


def check_source(url: str, hosts: AbstractSet[str], rules: UrlRules) -> Target:
    """Refuse an address that no download would be allowed to ask.

    Raises:
        InvalidInput: its field is ``url``.
    """
    target = read_url(url)
    check_form(target, rules)
    if target.host not in hosts:
        known = ", ".join(sorted(hosts))
        raise InvalidInput(
            "url_host",
            say(
                "%(host)s is no known source of open data; known are %(known)s. An "
                "administrator can add hosts with OPEN_DATA_ALLOWLIST.",
                host=target.host,
                known=known,
            ),
            field="url",
        )
    return target


@dataclass(frozen=True, slots=True)
class WebDownloader:
    """Downloads files; looks at every address anew, also at those of redirects."""

    rules: UrlRules = field(default_factory=UrlRules)
    hosts: AbstractSet[str] = OPEN_DATA_HOSTS
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    resolver: Resolver = resolve
    size_max: int = SIZE_MAX
    total_seconds: float = TOTAL_SECONDS
    idle_seconds: float = IDLE_SECONDS

    def download(
        self, url: str, file: BinaryIO, on_bytes: OnBytes
    ) -> Downloaded | NotDownloaded:
        """Write what the address holds into ``file``."""
        with Deadline(self.total_seconds) as deadline:
            for _ in range(REDIRECTS_MAX + 1):
                try:
                    answer = self._ask(url, file, on_bytes, deadline)
                except InvalidInput as error:
                    return NotDownloaded(error.message, may_pass=False)
                except NotResolved as error:
                    return NotDownloaded(
                        kept("The host cannot be found (%(why)s).", why=str(error)),
                        may_pass=True,
                    )
                if not isinstance(answer, str):
                    return answer
                url = led_on(url, answer)
        return NotDownloaded(
            kept("The address led on more than %(max)s times.", max=str(REDIRECTS_MAX)),
            may_pass=False,
        )

    def _ask(
        self, url: str, file: BinaryIO, on_bytes: OnBytes, deadline: Deadline
    ) -> Downloaded | NotDownloaded | str:
        """Return what became of it, or the address that it leads on to."""
        target = check_source(url, self.hosts, self.rules)
        addresses = (
            [target.address]
            if target.address is not None
            else list(self.resolver(target.host, CONNECT_SECONDS))
        )
        check_addresses(target, addresses, self.rules)
        try:
            connection = open_connection(target, addresses, deadline, self.tls)
        except _FAILURES as error:
            return _lost(target, error, deadline)
        try:
            # Asking sets the socket's timeout anew, from this one.
            connection.timeout = min(self.idle_seconds, deadline.remaining)
            response = _request(connection, target)
        except _FAILURES as error:
            connection.close()
            return _lost(target, error, deadline)
        try:
            return self._answer(target, response, file, on_bytes, deadline)
        finally:
            connection.close()

    def _answer(
        self,
        target: Target,
        response: BaseHTTPResponse,
        file: BinaryIO,
        on_bytes: OnBytes,
        deadline: Deadline,
    ) -> Downloaded | NotDownloaded | str:
        status, given = response.status, response.headers
        if status in _REDIRECTS and "Location" in given:
            return str(given["Location"])
        if status != 200:
            return NotDownloaded(
                kept(
                    "%(host)s answered %(status)s.",
                    host=target.authority,
                    status=str(status),
                ),
                may_pass=status in _PASSING,
            )
        told = given.get("Content-Length", "")
        is_size = told.isascii() and told.isdigit() and len(told) <= _DIGITS_MAX
        total = int(told) if is_size else None
        if total is not None and total > self.size_max:
            return self._too_large()
        try:
            size = self._receive(response, file, (total, on_bytes), deadline)
        except _FAILURES as error:
            return _lost(target, error, deadline)
        if size > self.size_max:
            return self._too_large()
        # What was read may be cut off where it looks whole.
        if deadline.has_passed or (total is not None and size != total):
            return _lost(target, None, deadline)
        return Downloaded(size, _day(given.get("Last-Modified")))

    def _receive(
        self,
        response: BaseHTTPResponse,
        file: BinaryIO,
        told: tuple[int | None, OnBytes],
        deadline: Deadline,
    ) -> int:
        """Write what comes; returns how many bytes, or a little more than allowed."""
        total, on_bytes = told
        size = 0
        while not deadline.has_passed and size <= self.size_max:
            chunk = response.read(_CHUNK, decode_content=False)
            if not chunk:
                break
            file.write(chunk)
            size += len(chunk)
            on_bytes(size, total)
        return size

    def _too_large(self) -> NotDownloaded:
        return NotDownloaded(
            kept(
                "The file has more than %(max)s MB; take the files of single "
                "departments.",
                max=str(self.size_max // 1_000_000),
            ),
            may_pass=False,
        )


def _request(connection: HTTPConnection, target: Target) -> BaseHTTPResponse:
    connection.request(
        "GET",
        target.path,
        headers={
            "Host": target.authority,
            "User-Agent": "Carillon",
            "Accept": "*/*",
            "Accept-Encoding": "identity",  # files are packed as files, not on the way
        },
        preload_content=False,  # we read, and stop reading, ourselves
        decode_content=False,
    )
    return connection.getresponse()


def _lost(target: Target, error: Exception | None, deadline: Deadline) -> NotDownloaded:
    host = target.authority
    if deadline.has_passed:
        return NotDownloaded(
            kept(
                "%(host)s did not send the whole file within %(minutes)s minutes.",
                host=host,
                minutes=f"{deadline.seconds / 60:g}",
            ),
            may_pass=True,
        )
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return NotDownloaded(
            mark("This machine has no room for the file."), may_pass=True
        )
    if isinstance(error, TimeoutError):
        return NotDownloaded(kept("%(host)s fell silent.", host=host), may_pass=True)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return NotDownloaded(
                kept("The certificate of %(host)s cannot be trusted.", host=host),
                may_pass=False,
            )
        cause = cause.__cause__ or cause.__context__
    return NotDownloaded(
        kept("%(host)s cannot be reached, or cut the file off.", host=host),
        may_pass=True,
    )


def _day(told: str | None) -> date | None:
    """Return the day of an HTTP date; ``None``: there is none, or it is odd."""
    try:
        return parsedate_to_datetime(told).date() if told else None
    except (ValueError, OverflowError):
        return None
