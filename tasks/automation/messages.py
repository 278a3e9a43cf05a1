"""Messages from operators' templates: checked when saved, rendered when sent.

Templates are Liquid.  Values are dotted names such as ``guest.name``; each trigger
names its own.  A value that is written and is not there fails the message, unless a
``default`` stands behind it: ``{{ guest.name | default: "there" }}``.  Instants are
written in local time: ``{{ booking.start_time | date: "%d.%m.%Y %H:%M" }}``, or in
full with ``{{ booking.start_time | local_time }}``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final, Literal

from liquid import BoundTemplate
from liquid.exceptions import LiquidError

from tasks.automation.actions.base import CannotCompose
from tasks.templating.checking import find_problem, sentence_of, too_big
from tasks.templating.environment import HTML, TEXT, MissingValue, render
from tasks.models.reason import Reason

SUBJECT_MAX: Final = 255  # characters
_DEPTH_MAX: Final = 20  # levels of a context
#: Unicode's classes of what breaks or hides in a line: controls, separators.
_NOT_IN_A_LINE: Final = frozenset({"Cc", "Zl", "Zp", "Cs"})
_TOO_DEEP: Final = "The template is nested too deeply; make it simpler."

Kind = Literal["text", "html"]


def check_template(source: str, variables: Collection[str]) -> str | None:
    """Return what is wrong with a template; ``None`` when it can be saved.

    Args:
        variables: The dotted names that the rule's trigger gives.
    """
    return find_problem(source, variables)


def render_text(source: str, context: Mapping[str, Any]) -> str:
    """Render a template as plain text.

    Raises:
        CannotCompose: a value is missing, or the template cannot be used.
    """
    return _render("text", source, context)


def render_html(source: str, context: Mapping[str, Any]) -> str:
    """Render a template as HTML; every value is escaped.

    Raises:
        CannotCompose: a value is missing, or the template cannot be used.
    """
    return _render("html", source, context)


def render_subject(source: str, context: Mapping[str, Any]) -> str:
    """Render a template as one clean line of at most 255 characters.

    Raises:
        CannotCompose: the same, or the line is empty, too long or not one line.
    """
    subject = _render("text", source, context).strip()
    if (problem := subject_problem(subject)) is not None:
        raise CannotCompose(Reason.BAD_MESSAGE, problem)
    return subject


def subject_problem(subject: str) -> str | None:
    """Return why ``subject`` cannot be a mail's subject; ``None`` when it can."""
    if not subject:
        return "The subject is empty."
    if len(subject) > SUBJECT_MAX:
        return f"The subject may have at most {SUBJECT_MAX} characters."
    if any(unicodedata.category(char) in _NOT_IN_A_LINE for char in subject):
        return "The subject must be one line, without control characters."
    if "=?" in subject:  # mail programs, and some Pythons, would decode it
        return "The subject must not contain =?."
    return None


# The seam: a later version renders in a child process with limits of its own.
def _render(kind: Kind, source: str, context: Mapping[str, Any]) -> str:
    try:
        return render(_parsed(kind, source), _plain(dict(context), 0))
    except MissingValue as error:
        raise CannotCompose(
            Reason.MISSING_VARIABLE,
            f"The message needs {error.name}, which is missing.",
        ) from error
    except LiquidError as error:
        raise CannotCompose(Reason.BAD_MESSAGE, sentence_of(error, source)) from error
    except (RecursionError, MemoryError) as error:
        raise CannotCompose(Reason.BAD_MESSAGE, _TOO_DEEP) from error


@lru_cache(maxsize=256)
def _parsed(kind: Kind, source: str) -> BoundTemplate:
    if (problem := too_big(source)) is not None:
        raise CannotCompose(Reason.BAD_MESSAGE, problem)
    return (HTML if kind == "html" else TEXT).from_string(source)


def _plain(value: Any, depth: int) -> Any:  # noqa: ANN401  # JSON in, JSON out
    """Return plain JSON values; nothing with methods reaches a template."""
    if depth > _DEPTH_MAX:
        raise RecursionError
    if isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    # Lone surrogates cannot be written; everything else stays as it is.
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
