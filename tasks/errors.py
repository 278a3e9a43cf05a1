"""Errors of the engine; what is expected (a duplicate, a lost lease) is a value."""

from __future__ import annotations


class EngineError(Exception):
    """Something in the engine went wrong."""


class ConfigError(EngineError):
    """A setting is missing or wrong; the message names the setting."""


class IllegalMove(EngineError):
    """A row cannot go from its state to the state asked for."""


class UnknownLane(EngineError):
    """No lane of the registry has this name."""


class ScopeMissing(EngineError):
    """A row of a congregation was written outside the session's scope."""


class InvalidInput(EngineError):
    """Something a caller or operator gave cannot be accepted.

    ``code`` is a stable word for machines, the message a sentence for people that
    says what is wrong, the limit and what to do.  ``field`` names the input, when
    there is one.
    """

    def __init__(self, code: str, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


class NotFound(InvalidInput):
    """The row that the caller names does not exist in its congregation."""


class Conflict(InvalidInput):
    """The row exists, but its state does not allow what was asked for."""


def words_of(error: Exception) -> str:
    """Return what went wrong, for rows that operators read.

    Of a database's error only its own first line: the statement, and what it adds on
    the lines behind, have people's values.
    """
    orig = getattr(error, "orig", None)
    words = str(error) if orig is None else str(orig).partition("\n")[0]
    return f"{type(error).__name__}: {words}"
