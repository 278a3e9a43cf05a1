"""What was ticked on a list, and what was confirmed about it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from flask import flash, redirect, request
from flask.typing import ResponseReturnValue

from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.saying import say


def selected() -> list[UUID]:
    """Return the ids that were ticked, each once.

    Raises:
        InvalidInput: one of them is no id.
    """
    try:
        return [UUID(text) for text in dict.fromkeys(request.form.getlist("id"))]
    except ValueError as error:
        raise InvalidInput(
            "bad_selection", say("The selection cannot be read; go back and try again.")
        ) from error


def nothing_selected(target: str) -> ResponseReturnValue:
    """Send the operator back to the list with the sentence that says what to do."""
    flash(say("Tick at least one row first."), "info")
    return redirect(target, 303)


def confirmed_at() -> datetime:
    """Return when the number was counted that an operator has confirmed.

    Raises:
        InvalidInput: the question was not asked, or not by us.
    """
    try:
        at = datetime.fromisoformat(request.form.get("high_water", ""))
    except ValueError:
        raise _not_asked() from None
    if at.tzinfo is None or at > utcnow():
        raise _not_asked()
    return at


def confirmed_id() -> UUID:
    """Return the id that was given to what an operator has confirmed.

    Raises:
        InvalidInput: the question was not asked, or not by us.
    """
    try:
        return UUID(request.form.get("operation", ""))
    except ValueError:
        raise _not_asked() from None


def confirmed_number() -> int | None:
    """Return how many rows an operator was told of; None: not all could be counted.

    Raises:
        InvalidInput: the question was not asked by us.
    """
    text = request.form.get("shown", "0")
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(COUNT_CAP)):
        raise _not_asked()
    n = int(text)
    return n if 0 < n < COUNT_CAP else None


def _not_asked() -> InvalidInput:
    return InvalidInput(
        "not_confirmed",
        say("Nothing was changed: begin at the list and confirm there."),
    )
