"""Composing many messages at once: each action makes all of its own in one go."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import (
    Action,
    CannotCompose,
    ComposesMany,
    Message,
)
from tasks.models.reason import Reason
from tasks.saying import mark, say

logger = logging.getLogger(__name__)

#: What operators read of a row that makes the program fail.
BUG: Final = mark(
    "The message could not be made: an error in the program, see its log."
)


class Ask(NamedTuple):
    """A message that is wanted."""

    action: str  # a key of ACTIONS, or of none of them
    settings: Mapping[str, Any]
    context: Mapping[str, Any]


class Composed(NamedTuple):
    """A message, and whom it goes to."""

    message: Message
    recipient: str | None  # None: the action has no address


def compose_all(
    asks: Sequence[Ask | CannotCompose],
) -> list[Composed | CannotCompose]:
    """Return each message, or why it cannot be made, in the order of ``asks``.

    What is known not to work already stays so.

    Raises:
        RenderingBroken: no template can be rendered at all, whatever it is.
    """
    found: dict[int, Composed | CannotCompose] = {}
    wanted: dict[str, dict[int, Ask]] = defaultdict(dict)  # by action and place
    for place, ask in enumerate(asks):
        if isinstance(ask, CannotCompose):
            found[place] = ask
        else:
            wanted[ask.action][place] = ask
    for name, of_action in wanted.items():
        made = _of_action(name, list(of_action.values()))
        found.update(zip(of_action, made, strict=True))
    return [found[place] for place in range(len(asks))]


def _of_action(name: str, asks: Sequence[Ask]) -> list[Composed | CannotCompose]:
    action = ACTIONS.get(name)
    if action is None:
        sentence = say("There is no action %(name)s here.", name=repr(name))
        unknown = CannotCompose(Reason.BAD_MESSAGE, sentence)
        return [unknown] * len(asks)
    messages = (
        action.compose_all([(ask.settings, ask.context) for ask in asks])
        if isinstance(action, ComposesMany)
        else [_alone(action, ask) for ask in asks]
    )
    return [
        message
        if isinstance(message, CannotCompose)
        else Composed(message, action.recipient(ask.settings, ask.context))
        for ask, message in zip(asks, messages, strict=True)
    ]


def _alone(action: Action, ask: Ask) -> Message | CannotCompose:
    try:
        return action.compose(ask.settings, ask.context)
    except CannotCompose as refused:
        return refused
    except Exception:  # one row's bug must not stop the others' work
        logger.exception("execution.compose_failed", extra={"action": ask.action})
        return CannotCompose(Reason.BAD_MESSAGE, say(BUG))
