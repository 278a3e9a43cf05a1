"""Who calls the API: the bearer token, its scopes and its pace."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from uuid import UUID

from flask import request
from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from sqlalchemy.orm import Session

from dashboard.api.errors import ApiError
from dashboard.extensions import db
from tasks.clock import utcnow
from tasks.db import reading
from tasks.models import ApiToken
from tasks.operations.tokens import Refusal, authenticate, is_use_stale, note_use

#: Requests of one token to one web process.  Counted in memory, so that the API
#: keeps taking events while Redis is away.
PACE: Final = parse("6000/minute")
_pace = FixedWindowRateLimiter(MemoryStorage())

_SENTENCES: Final = {
    Refusal.INVALID: "This token is not valid; check that it was copied whole.",
    Refusal.REVOKED: "This token was revoked; ask an admin for a new one.",
    Refusal.EXPIRED: "This token has expired; ask an admin for a new one.",
}


@dataclass(frozen=True, slots=True)
class Caller:
    """The producer that a token stands for."""

    token_id: UUID
    name: str
    congregation_id: UUID


def admitted(scope: str) -> Caller:
    """Return who calls, if the request's token has ``scope``.

    Opens short transactions of its own: a slow body must not hold one open.

    Raises:
        ApiError: 400, 401, 403 or 429.
    """
    plaintext = _bearer_token()
    now = utcnow()
    with Session(db.engine, expire_on_commit=False) as session:
        reading(session)
        found = authenticate(session, plaintext, now)
    if isinstance(found, Refusal):
        raise _unauthorised(found, _SENTENCES[found])
    if scope not in found.scopes.split():
        raise ApiError(
            HTTPStatus.FORBIDDEN,
            "scope_missing",
            f"This token lacks the scope {scope}; it has {found.scopes}.",
            scope=scope,
            headers=_challenge("insufficient_scope"),
        )
    _check_pace(found)
    if is_use_stale(found, now):
        with Session(db.engine) as session, session.begin():
            note_use(session, found.id, now)
    return Caller(found.id, found.name, found.congregation_id)


def _bearer_token() -> str:
    if "token" in request.args or "access_token" in request.args:
        raise ApiError(
            HTTPStatus.BAD_REQUEST,
            "token_in_query",
            "A token in the address ends up in logs, so it is refused and should be "
            "revoked; send it as: Authorization: Bearer crl_…",
        )
    scheme, _, plaintext = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not plaintext.strip():
        raise _unauthorised(
            "token_missing", "Send a token as: Authorization: Bearer crl_…"
        )
    return plaintext.strip()


def _unauthorised(code: str, sentence: str) -> ApiError:
    error = None if code == "token_missing" else "invalid_token"
    return ApiError(
        HTTPStatus.UNAUTHORIZED, str(code), sentence, headers=_challenge(error)
    )


def _challenge(error: str | None) -> dict[str, str]:
    detail = f', error="{error}"' if error else ""
    return {"WWW-Authenticate": f'Bearer realm="carillon"{detail}'}


def _check_pace(token: ApiToken) -> None:
    if _pace.hit(PACE, str(token.id)):
        return
    again_at = _pace.get_window_stats(PACE, str(token.id)).reset_time
    wait = max(1, math.ceil(again_at - time.time()))
    raise ApiError(
        HTTPStatus.TOO_MANY_REQUESTS,
        "too_many_requests",
        f"A token may send {PACE.amount} requests a minute; wait {wait} s, and send "
        "events in batches of up to 500.",
        headers={"Retry-After": str(wait)},
    )
