"""Links that end mails to one address without a login (RFC 8058)."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tasks.errors import NotFound
from tasks.outbound.mailboxes import normal_address
from tasks.saying import say

PATH: Final = "/unsubscribe/"
_TOKEN_MAX: Final = 600  # characters
_PURPOSE: Final = b"carillon unsubscribe v1"


@dataclass(frozen=True)
class UnsubscribeLinks:
    """Makes and reads the links of one installation.

    The address is encrypted in them, so that no log of a proxy tells who reads our
    mails; the same address always has the same link, and it does not grow old.
    """

    base_url: str  # no slash at the end
    secret_key: str

    def url(self, congregation_id: UUID, address: str) -> str:
        """Return the link that ends a congregation's mails to ``address``.

        Raises:
            BadAddress: it is not one plain e-mail address.
        """
        told = congregation_id.bytes + normal_address(address).encode()
        sealed = base64.urlsafe_b64encode(self._box.encrypt(told, [_PURPOSE]))
        return f"{self.base_url}{PATH}{sealed.decode().rstrip('=')}"

    def read(self, token: str) -> tuple[UUID, str]:
        """Return the congregation and the normalised address of a link's last part.

        Raises:
            NotFound: it is none of ours (``bad_link``).
        """
        try:
            if len(token) > _TOKEN_MAX or not token.isascii():
                raise ValueError
            sealed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            told = self._box.decrypt(sealed, [_PURPOSE])
            return UUID(bytes=told[:16]), told[16:].decode()
        except (ValueError, binascii.Error, InvalidTag) as error:
            raise NotFound(
                "bad_link",
                say("This link is not complete. Open it from the mail once more."),
            ) from error

    @cached_property
    def _box(self) -> AESSIV:
        key = HKDF(algorithm=SHA256(), length=64, salt=None, info=_PURPOSE)
        return AESSIV(key.derive(self.secret_key.encode()))
