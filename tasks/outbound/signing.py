"""Signing webhooks as the Standard Webhooks specification says."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime


def signed_headers(
    message_id: str, body: bytes, *keys: bytes, at: datetime
) -> dict[str, str]:
    """Return the three headers that let a receiver verify one attempt.

    Args:
        message_id: The same on every attempt; receivers tell duplicates by it.
        keys: Each gives a signature; while a secret is being replaced there are two.
        at: The instant of this attempt; receivers refuse old ones.
    """
    timestamp = str(int(at.timestamp()))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_signature(signed, key) for key in keys),
    }


def _signature(signed: bytes, key: bytes) -> str:
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode("ascii")
