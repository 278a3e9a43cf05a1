"""Secrets at rest: sealed with a key that is derived from SECRET_KEY."""

from __future__ import annotations

import base64
import binascii
import secrets
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tasks.errors import InvalidInput

WEBHOOK_PREFIX: Final = "whsec_"
_KEY_MIN: Final = 24  # bytes; the bounds of the Standard Webhooks specification
_KEY_MAX: Final = 64


class SecretBox:
    """Seals short texts for the database and opens them again.

    The first key seals; the others only open, so that SECRET_KEY can be changed.
    """

    def __init__(self, secret_key: str, *former_keys: str) -> None:
        self._fernet = MultiFernet([_fernet(key) for key in (secret_key, *former_keys)])

    def seal(self, text: str) -> str:
        """Return ``text`` encrypted and authenticated, as ASCII."""
        return self._fernet.encrypt(text.encode()).decode("ascii")

    def unseal(self, sealed: str) -> str:
        """Return the text that was sealed.

        Raises:
            InvalidInput: sealed with another key, or damaged (``secret_unreadable``).
        """
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken as error:
            raise InvalidInput(
                "secret_unreadable",
                "A stored secret cannot be read, because SECRET_KEY has changed since "
                "it was stored. Set the former SECRET_KEY again, or make a new secret.",
            ) from error


def new_webhook_secret() -> str:
    """Return a fresh signing secret, ``whsec_`` and 32 random bytes in base64."""
    return WEBHOOK_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def webhook_key(secret: str) -> bytes:
    """Return the key of a ``whsec_`` secret, 24 to 64 bytes.

    Raises:
        InvalidInput: not such a secret (``secret_weak``).
    """
    try:
        if not secret.startswith(WEBHOOK_PREFIX):
            raise binascii.Error
        key = base64.b64decode(secret.removeprefix(WEBHOOK_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not _KEY_MIN <= len(key) <= _KEY_MAX:
        raise InvalidInput(
            "secret_weak",
            f"A signing secret is whsec_ and {_KEY_MIN} to {_KEY_MAX} random bytes in "
            "base64; let one be generated.",
            field="secret",
        )
    return key


def _fernet(secret_key: str) -> Fernet:
    derived = HKDF(
        algorithm=SHA256(), length=32, salt=None, info=b"carillon sealed secrets v1"
    ).derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
