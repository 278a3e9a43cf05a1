"""Which passwords are good enough, and how they are kept."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import Final

from argon2 import PasswordHasher
from flask import Flask
from flask_security import PasswordUtil

from dashboard.config import ARGON2, PASSWORD_MAX, PASSWORD_MIN
from tasks.saying import say

# fmt: off
#: What is left of the passwords that are tried first, without digits and signs.
_TRIED_FIRST: Final = frozenset(
    {
        "password", "passwort", "motdepasse", "passw0rd", "p@ssw0rd", "admin",
        "administrator", "root", "secret", "welcome", "bienvenue", "bonjour",
        "letmein", "changeme", "default", "login", "iloveyou", "monkey", "dragon",
        "football", "baseball", "sunshine", "princess", "superman", "batman",
        "master", "shadow", "trustno", "qwerty", "qwertyuiop", "qwertz", "azerty",
        "azertyuiop", "asdfgh", "asdfghjkl", "zxcvbnm", "abc", "abcdef", "abcdefgh",
        "abcdefghijkl", "test", "testing", "carillon", "carillonadmin", "operator",
        "console", "correcthorsebatterystaple",
    }
)
# fmt: on


def normalized(password: str) -> str:
    """Return one spelling for what looks the same, so that keyboards do not matter."""
    return unicodedata.normalize("NFKD", password)


def hash_password(password: str) -> str:
    """Return the argon2id hash of a password that was checked."""
    hasher = PasswordHasher(
        time_cost=ARGON2["time_cost"],
        memory_cost=ARGON2["memory_cost"],
        parallelism=ARGON2["parallelism"],
    )
    return hasher.hash(normalized(password))


def weakness(password: str, email: str = "") -> str | None:
    """Return a sentence about why a password will not do; None when it will.

    >>> weakness("Password123456")
    'This password is among the first that are tried; choose another one.'
    >>> weakness("three bells at noon") is None
    True
    """
    length = len(normalized(password))
    if length < PASSWORD_MIN:
        return say(
            "Use at least %(min)s characters; three or four words are fine.",
            min=PASSWORD_MIN,
        )
    if length > PASSWORD_MAX:
        return say("Use at most %(max)s characters.", max=str(PASSWORD_MAX))
    bare = password.casefold().strip("0123456789 !?.,-_#*$@+&%=")
    local_part = email.partition("@")[0].casefold()
    if bare in _TRIED_FIRST or _is_monotonous(password) or bare in _halves(bare):
        return say(
            "This password is among the first that are tried; choose another one."
        )
    if local_part and bare == local_part:
        return say("This password is your e-mail address; choose another one.")
    return None


def _is_monotonous(password: str) -> bool:
    """Whether it is few characters over and over, or a run such as 123456789012."""
    if len(set(password.casefold())) < 4:
        return True
    steps = {ord(b) - ord(a) for a, b in pairwise(password)}
    return steps <= {1, -9} or steps <= {-1, 9}


def _halves(bare: str) -> set[str]:
    """Return the words that are one tried word twice, as in passwordpassword."""
    return {word + word for word in _TRIED_FIRST if len(word) * 2 == len(bare)}


class OperatorPasswords(PasswordUtil):  # type: ignore[misc]  # it has no types
    """Our rules in the words of the login extension."""

    def __init__(self, app: Flask) -> None:
        super().__init__(app)

    def normalize(self, password: str) -> str:
        return normalized(password)

    def validate(
        self, password: str, is_register: bool, **kwargs: object
    ) -> tuple[list[str] | None, str]:
        user = kwargs.get("user")
        found = weakness(password, getattr(user, "email", ""))
        return ([found] if found else None), normalized(password)
