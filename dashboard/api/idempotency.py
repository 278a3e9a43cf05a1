"""The same Idempotency-Key twice: the work is done once, the answer given twice.

The record is written in the transaction of the work itself.  So a key is known if and
only if its work is committed, and no crash leaves a request "under way" for ever.
Only successful answers are kept: a refused request changed nothing, and may be mended
and sent again with the same key.
"""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import Final
from uuid import UUID

from flask import request
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dashboard.api.answer import Answer
from dashboard.api.errors import ApiError, invalid
from tasks.models import IdempotencyRecord

HEADER: Final = "Idempotency-Key"
KEY_MAX: Final = 255


def requested_key() -> str | None:
    """Return the request's key; ``None`` when it has none.

    Raises:
        ApiError: 422, the key is empty, too long or not printable ASCII.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not 1 <= len(key) <= KEY_MAX or not key.isascii() or not key.isprintable():
        raise invalid(
            [
                {
                    "field": HEADER,
                    "code": "idempotency_key_invalid",
                    "message": f"{HEADER}: must be 1 to {KEY_MAX} printable ASCII "
                    "characters.",
                }
            ]
        )
    return key


def request_digest(body: bytes) -> str:
    """Return what tells one request from another, as SHA-256 in hex."""
    head = [request.method, request.full_path, request.content_type or ""]
    attributes = sorted(
        f"{name.lower()}:{value}"
        for name, value in request.headers
        if name.lower().startswith("ce-")
    )
    return hashlib.sha256(
        "\n".join([*head, *attributes, ""]).encode() + body
    ).hexdigest()


def kept_answer(
    session: Session, congregation_id: UUID, key: str, digest: str
) -> Answer | None:
    """Return the answer that this key was given before; ``None``: do the work.

    Holds the key until the transaction ends, so that of two requests at once only one
    does the work.  SQLite has one writer at a time: there the second waits its turn.

    Raises:
        ApiError: 409, the first request is under way; 422, it was another request.
    """
    if not _hold(session, congregation_id, key):
        raise ApiError(
            HTTPStatus.CONFLICT,
            "idempotency_in_progress",
            "A request with this Idempotency-Key is under way; ask again in a moment.",
            headers={"Retry-After": "1"},
        )
    kept = session.scalar(select(IdempotencyRecord).filter_by(key=key))
    return None if kept is None else _replay(kept, digest)


def _replay(kept: IdempotencyRecord, digest: str) -> Answer:
    if kept.request_digest != digest:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "idempotency_mismatch",
            "This Idempotency-Key was used for another request; take a new one.",
        )
    return Answer(
        kept.response or {},
        HTTPStatus(kept.status_code or HTTPStatus.OK),
        {**(kept.headers or {}), "Idempotency-Replayed": "true"},
    )


def keep(
    session: Session, congregation_id: UUID, key: str, digest: str, answer: Answer
) -> None:
    """Keep the answer to this key; the caller commits it together with the work."""
    session.add(
        IdempotencyRecord(
            congregation_id=congregation_id,
            key=key,
            request_digest=digest,
            status_code=int(answer.status),
            response=answer.body,
            headers=dict(answer.headers),
        )
    )


def _hold(session: Session, congregation_id: UUID, key: str) -> bool:
    if session.get_bind().dialect.name != "postgresql":
        return True  # BEGIN IMMEDIATE: whoever is here is alone
    hashed = hashlib.sha256(congregation_id.bytes + key.encode()).digest()
    lock = int.from_bytes(hashed[:8], signed=True)
    return bool(session.scalar(select(func.pg_try_advisory_xact_lock(lock))))
