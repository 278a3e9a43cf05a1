"""What people read, in their language: say it here, and it can be translated.

The texts in the code are English and are the keys of ``locale/<language>/*.po``.
Values are named in them, as in ``%(n)s``.  What machines read (the API, logs) and what
is kept in rows stays English: there nobody sets a language.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Final

from babel.support import LazyProxy

from tasks.saying.catalogs import ABOUT, LANGUAGES, catalog

__all__ = [
    "LANGUAGES",
    "in_english",
    "in_language",
    "language",
    "later",
    "mark",
    "meant",
    "say",
    "say_many",
    "written",
]

#: In which of LANGUAGES texts are said now.
language: Final[ContextVar[str]] = ContextVar("language", default="en")


def say(text: str, /, **values: object) -> str:
    """Return a marked text in the present language, with its values.

    Without values a ``%`` stays as it is; with them it is written ``%%``.

    Raises:
        KeyError: a value is missing.

    >>> say("Give %(max)s at most.", max=1500)
    'Give 1\u202f500 at most.'
    """
    said = catalog(language.get()).gettext(text) if text else ""
    if said == text:  # as in English: what it is about is not said
        said = text.rpartition(ABOUT)[2]
    return said % _written(values) if values else said


def say_many(n: int, one: str, many: str, /, **values: object) -> str:
    """Return a text for a number; ``%(n)s`` in it is the number.

    >>> say_many(1, "%(n)s rule is off.", "%(n)s rules are off.")
    '1 rule is off.'
    """
    return catalog(language.get()).ngettext(one, many, n) % _written({"n": n, **values})


def mark(text: str, /) -> str:
    """Mark a text for the catalogs and return it: for tables made at the start.

    Whoever shows it calls ``say`` with it.
    """
    return text


def meant(about: str, text: str, /) -> str:
    """Mark a text that other languages say otherwise of something, and return both.

    It is said like any marked text, and found under both in the catalogs: where an
    adjective has a gender, or one English word has two translations.

    >>> say(meant("a mail", "From"))
    'From'
    """
    return f"{about}{ABOUT}{text}"


def later(text: str, /, **values: object) -> LazyProxy:
    """Return a text that is said each time it is shown: for labels of forms."""
    return LazyProxy(say, text, enable_cache=False, **values)


@contextmanager
def in_language(sign: str) -> Iterator[None]:
    """Say something to somebody who reads one of LANGUAGES."""
    before = language.set(sign)
    try:
        yield
    finally:
        language.reset(before)


def in_english() -> AbstractContextManager[None]:
    """Say what is kept in rows, such as the summary of a deed, whoever asks."""
    return in_language("en")


def written(count: int) -> str:
    r"""Return a number with thin gaps.

    >>> written(1234567)
    '1\u202f234\u202f567'
    """
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _written(values: dict[str, object]) -> dict[str, object]:
    return {
        name: written(value) if type(value) is int else value
        for name, value in values.items()
    }
