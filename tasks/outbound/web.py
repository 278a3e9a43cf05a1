"""Posting a signed webhook: guarded, pinned, and over within twenty seconds."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from tasks.automation.actions.base import (
    Envelope,
    GiveUp,
    Letter,
    Outcome,
    TryAgain,
)
from tasks.clock import Clock, utcnow
from tasks.errors import InvalidInput
from tasks.models.reason import Reason
from tasks.outbound.answers import Answer, judge
from tasks.outbound.connection import CONNECT_SECONDS, open_connection
from tasks.outbound.deadline import Deadline
from tasks.outbound.guard import UrlRules, check_addresses, check_form
from tasks.outbound.networks import Address, NotResolved, Resolver, resolve
from tasks.outbound.signing import signed_headers
from tasks.outbound.urls import Target, read_url
from tasks.secrets import SecretBox, webhook_key

TOTAL_SECONDS: Final = 20.0
_BODY_READ: Final = 65_536  # bytes of an answer that are read at most
_FAILURES: Final = (HTTPError, http.client.HTTPException, OSError)


@dataclass(frozen=True, slots=True)
class WebPoster:
    """Posts webhooks; looks at the address anew at every attempt."""

    box: SecretBox
    rules: UrlRules = field(default_factory=UrlRules)
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    resolver: Resolver = resolve
    clock: Clock = utcnow
    total_seconds: float = TOTAL_SECONDS

    def post(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Post ``message["body"]`` to ``message["url"]``, signed.

        Answers within ``total_seconds``; never raises for what a server does.
        """
        if envelope.secret is None:
            return GiveUp(
                Reason.BAD_MESSAGE,
                "The rule has no signing secret; save the rule again to make one.",
            )
        id_, url = str(envelope.execution_id), str(message["url"])
        return self._post(url, id_, _body(message, envelope), (envelope.secret,))

    def deliver(self, letter: Letter) -> Outcome:
        """Post a letter as it is, signed with each of its secrets.

        Answers within ``total_seconds``; never raises for what a server does.
        """
        body = letter.body.encode()
        return self._post(letter.url, str(letter.id), body, letter.secrets)

    def _post(self, url: str, id_: str, body: bytes, secrets: Sequence[str]) -> Outcome:
        try:
            headers = self._headers(id_, body, secrets)
        except InvalidInput as error:
            return GiveUp(Reason.BAD_MESSAGE, error.message)
        with Deadline(self.total_seconds) as deadline:
            try:
                target = read_url(url)
                check_form(target, self.rules)
                addresses = self._addresses(target)
                check_addresses(target, addresses, self.rules)
            except InvalidInput as error:
                return GiveUp(Reason.BLOCKED_ADDRESS, error.message)
            except NotResolved as error:
                return TryAgain(f"{target.host} cannot be reached ({error}).")
            return self._exchange(target, addresses, headers, body, deadline)

    def _headers(self, id_: str, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
        keys = [webhook_key(self.box.unseal(each)) for each in secrets]
        return {
            "Content-Type": "application/json",
            "User-Agent": "Carillon",
            "Accept-Encoding": "identity",  # nothing to unpack, so nothing can swell
            **signed_headers(id_, body, *keys, at=self.clock()),
        }

    def _addresses(self, target: Target) -> list[Address]:
        if target.address is not None:
            return [target.address]
        return list(self.resolver(target.host, CONNECT_SECONDS))

    def _exchange(
        self,
        target: Target,
        pinned: Sequence[Address],
        headers: Mapping[str, str],
        body: bytes,
        deadline: Deadline,
    ) -> Outcome:
        try:
            connection = open_connection(target, pinned, deadline, self.tls)
        except _FAILURES as error:
            return TryAgain(_unreachable(target, error, deadline))
        try:
            # From here on the request may have arrived, whatever we hear of it.
            connection.request(
                "POST",
                target.path,
                body,
                {"Host": target.authority, **headers},
                preload_content=False,  # we read, and stop reading, ourselves
                decode_content=False,
            )
            answer = _read(connection, deadline)
        except _FAILURES as error:
            return TryAgain(_lost(target, error, deadline), is_unknown=True)
        finally:
            connection.close()
        if deadline.has_passed:  # what was read may be cut off where it looks whole
            return TryAgain(_lost(target, None, deadline), is_unknown=True)
        return judge(answer, now=self.clock())


def _body(message: Mapping[str, Any], envelope: Envelope) -> bytes:
    """Return the same bytes on every attempt of the same message."""
    letter = {"id": str(envelope.execution_id), **message["body"]}
    return json.dumps(
        letter, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    ).encode()


def _read(connection: HTTPConnection, deadline: Deadline) -> Answer:
    response: BaseHTTPResponse = connection.getresponse()
    chunks: list[bytes] = []
    size = 0
    while size < _BODY_READ and not deadline.has_passed:
        chunk = response.read(min(4096, _BODY_READ - size), decode_content=False)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return Answer(
        response.status, b"".join(chunks), response.headers.get("Retry-After")
    )


def _unreachable(target: Target, error: Exception, deadline: Deadline) -> str:
    if deadline.has_passed or isinstance(error, TimeoutError):
        why = "no connection in time"
    elif _is_about_tls(error):
        why = "its certificate cannot be trusted or TLS failed"
    else:
        why = "no connection"
    return f"{target.authority} cannot be reached ({why})."


def _lost(target: Target, error: Exception | None, deadline: Deadline) -> str:
    if deadline.has_passed or isinstance(error, TimeoutError):
        seconds = f"{deadline.seconds:g}"
        return f"{target.authority} did not answer within {seconds} seconds."
    return f"{target.authority} closed the connection without a proper answer."


def _is_about_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
