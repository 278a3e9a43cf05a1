"""What an API token looks like: ``crl_<lookup>_<secret><checksum>``, all in base62.

The lookup finds the row, the secret has 256 random bits, and the checksum lets
secret scanners and typing mistakes be told from real tokens without a database.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LOOKUP_LENGTH: Final = 12
_SECRET_BYTES: Final = 32
_SECRET_LENGTH: Final = 43  # base62 digits of 32 bytes
_CHECKSUM_LENGTH: Final = 6  # base62 digits of a CRC-32
_LENGTH: Final = 5 + _LOOKUP_LENGTH + _SECRET_LENGTH + _CHECKSUM_LENGTH
_SHAPE: Final = re.compile(
    rf"crl_([0-9A-Za-z]{{{_LOOKUP_LENGTH}}})"
    rf"_([0-9A-Za-z]{{{_SECRET_LENGTH}}})([0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})"
)


def new_plaintext() -> tuple[str, str]:
    """Return the lookup and the plain text of a new token."""
    lookup = "".join(secrets.choice(_ALPHABET) for _ in range(_LOOKUP_LENGTH))
    number = int.from_bytes(secrets.token_bytes(_SECRET_BYTES))
    secret = _base62(number, _SECRET_LENGTH)
    return lookup, f"crl_{lookup}_{secret}{_checksum(lookup, secret)}"


def lookup_of(plaintext: str) -> str | None:
    """Return the public part of a token; ``None`` when the text cannot be one."""
    # The length first: a regular expression need not look at ten kilobytes.
    shape = _SHAPE.fullmatch(plaintext) if len(plaintext) == _LENGTH else None
    if shape is None:
        return None
    lookup, secret, checksum = shape.groups()
    holds = hmac.compare_digest(_checksum(lookup, secret), checksum)
    return lookup if holds else None


def digest(plaintext: str) -> str:
    """Return what is stored of a token; so many random bits need no slow hash."""
    return hashlib.sha256(plaintext.encode()).hexdigest()


def _checksum(lookup: str, secret: str) -> str:
    return _base62(zlib.crc32(f"{lookup}_{secret}".encode()), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = ""
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits = _ALPHABET[digit] + digits
    return digits
