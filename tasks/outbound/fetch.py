"""Fetching a page that somebody named: guarded, pinned, bounded in time and size."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from tasks.clock import Clock, utcnow
from tasks.errors import InvalidInput
from tasks.outbound.connection import CONNECT_SECONDS, open_connection
from tasks.outbound.deadline import Deadline
from tasks.outbound.guard import UrlRules, check_addresses, check_form
from tasks.outbound.networks import NotResolved, Resolver, resolve
from tasks.outbound.retry_after import read_retry_after
from tasks.outbound.urls import Target, led_on, read_url
from tasks.sources.fetching import (
    SIZE_MAX,
    Answer,
    Fetched,
    NotFetched,
    NotModified,
)

TOTAL_SECONDS: Final = 30.0
REDIRECTS_MAX: Final = 5
_CHUNK: Final = 65_536  # bytes
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NOT_NOW: Final = frozenset({429, 502, 503, 504})
_FAILURES: Final = (HTTPError, http.client.HTTPException, OSError)


@dataclass(frozen=True, slots=True)
class WebFetcher:
    """Fetches pages; looks at every address anew, also at those of redirects."""

    rules: UrlRules = field(default_factory=UrlRules)
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    resolver: Resolver = resolve
    clock: Clock = utcnow
    total_seconds: float = TOTAL_SECONDS
    size_max: int = SIZE_MAX

    def fetch(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None
    ) -> Answer:
        """Fetch ``url`` within ``total_seconds``; never raises for a server's deeds."""
        headers = _headers(etag, last_modified)
        with Deadline(self.total_seconds) as deadline:
            for _ in range(REDIRECTS_MAX + 1):
                try:
                    answer = self._ask(url, headers, deadline)
                except InvalidInput as error:
                    return NotFetched(error.message)
                if not isinstance(answer, str):
                    return answer
                url = led_on(url, answer)
        return NotFetched(f"The address led on more than {REDIRECTS_MAX} times.")

    def _ask(
        self, url: str, headers: Mapping[str, str], deadline: Deadline
    ) -> Answer | str:
        """Return the answer, or the address that it leads on to."""
        target = read_url(url)
        check_form(target, self.rules)
        try:
            addresses = (
                [target.address]
                if target.address is not None
                else list(self.resolver(target.host, CONNECT_SECONDS))
            )
        except NotResolved as error:
            return NotFetched(f"{target.host} cannot be reached ({error}).")
        check_addresses(target, addresses, self.rules)
        try:
            connection = open_connection(target, addresses, deadline, self.tls)
        except _FAILURES as error:
            return NotFetched(_why(target, error, deadline))
        try:
            return self._exchange(connection, target, headers, deadline)
        except _FAILURES as error:
            return NotFetched(_why(target, error, deadline))
        finally:
            connection.close()

    def _exchange(
        self,
        connection: HTTPConnection,
        target: Target,
        headers: Mapping[str, str],
        deadline: Deadline,
    ) -> Answer | str:
        connection.request(
            "GET",
            target.path,
            headers={"Host": target.authority, **headers},
            preload_content=False,  # we read, and stop reading, ourselves
            decode_content=False,
        )
        response: BaseHTTPResponse = connection.getresponse()
        status, given = response.status, response.headers
        if status == 304:
            return NotModified()
        if status in _REDIRECTS and "Location" in given:
            return str(given["Location"])
        if status != 200:
            after = given.get("Retry-After") if status in _NOT_NOW else None
            return NotFetched(
                f"{target.authority} answered {status}.",
                read_retry_after(after, now=self.clock()),
            )
        if given.get("Content-Encoding", "identity").lower() != "identity":
            return NotFetched(
                f"{target.authority} sent it packed, although asked not to."
            )
        body = self._read(response, deadline)
        if body is None:
            return NotFetched(
                f"The answer has {self.size_max // 1_000_000} MB or more, which is "
                "too large."
            )
        if deadline.has_passed:  # what was read may be cut off where it looks whole
            return NotFetched(_why(target, TimeoutError(), deadline))
        return Fetched(
            body, _short(given.get("ETag"), 500), _short(given.get("Last-Modified"), 99)
        )

    def _read(self, response: BaseHTTPResponse, deadline: Deadline) -> bytes | None:
        """Return the whole body; ``None`` when it is too large."""
        told = response.headers.get("Content-Length", "")
        if told.isascii() and told.isdigit() and int(told[:12]) >= self.size_max:
            return None
        chunks: list[bytes] = []
        size = 0
        while not deadline.has_passed:
            chunk = response.read(_CHUNK, decode_content=False)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
            if size >= self.size_max:
                return None
        return b"".join(chunks)


def _headers(etag: str | None, last_modified: str | None) -> dict[str, str]:
    headers = {
        "User-Agent": "Carillon",
        "Accept": "application/rss+xml, application/atom+xml, application/xml;q=0.9, "
        "*/*;q=0.5",
        "Accept-Encoding": "identity",  # nothing to unpack, so nothing can swell
    }
    if etag is not None:
        headers["If-None-Match"] = etag
    if last_modified is not None:
        headers["If-Modified-Since"] = last_modified
    return headers


def _short(value: str | None, limit: int) -> str | None:
    """Return a header's value that can be sent back as it is, else ``None``."""
    is_good = value is not None and len(value) <= limit and value.isprintable()
    return value if is_good and value and value.isascii() else None


def _why(target: Target, error: Exception, deadline: Deadline) -> str:
    if deadline.has_passed or isinstance(error, TimeoutError):
        seconds = f"{deadline.seconds:g}"
        return f"{target.authority} did not answer within {seconds} seconds."
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return f"The certificate of {target.authority} cannot be trusted."
        cause = cause.__cause__ or cause.__context__
    return f"{target.authority} cannot be reached, or cut the answer off."
