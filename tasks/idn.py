"""Domains beyond ASCII: kept and sent as ``xn--…``, read and typed in letters."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import idna

#: The domain of an address in a text.
_DOMAIN: Final = re.compile(r"(?<=@)[a-z0-9.-]*\bxn--[a-z0-9.-]+", re.IGNORECASE)
_PREFIX: Final = "xn--"
_LABEL_MAX: Final = 63  # RFC 1035; longer ones cost more than they could mean


def in_letters(text: str) -> str:
    """Return a text for people: its addresses have their domains in letters.

    >>> in_letters("To zoe@mail.xn--bcher-kva.example.")
    'To zoe@mail.bücher.example.'
    """
    if _PREFIX not in text.lower():
        return text
    return _DOMAIN.sub(lambda found: _labels(found[0], _letters), text)


def in_ascii(text: str) -> str:
    """Return the beginning of an address as addresses are kept.

    >>> in_ascii("josé@bücher.exam")
    'josé@xn--bcher-kva.exam'
    """
    local, at, domain = text.rpartition("@")
    return f"{local}@{_labels(domain, _ascii)}" if at else text


def spellings(text: str) -> tuple[str, ...]:
    """Return how a part of an address may be kept: as it is, in ASCII, in letters.

    >>> spellings("bücher.example"), spellings("zoe@")
    (('bücher.example', 'xn--bcher-kva.example'), ('zoe@',))
    """
    if any(char.isspace() for char in text):
        return (text,)
    local, at, domain = text.rpartition("@")
    found = (_labels(domain, each) for each in (_ascii, _letters))
    return tuple(dict.fromkeys((text, *(f"{local}{at}{each}" for each in found))))


def _labels(domain: str, spelled: Callable[[str], str]) -> str:
    return ".".join(
        label if len(label) > _LABEL_MAX else spelled(label)
        for label in domain.split(".")
    )


def _ascii(label: str) -> str:
    if label.isascii():
        return label
    try:
        return idna.encode(label, uts46=True).decode()
    except idna.IDNAError:
        return label


def _letters(label: str) -> str:
    if not label.lower().startswith(_PREFIX):
        return label
    try:
        return idna.decode(label)
    except idna.IDNAError:
        return label
