"""Messages from operators' templates: checked when saved, rendered when sent.

Templates are Liquid.  Values are dotted names such as ``guest.name``; each trigger
names its own.  A value that is written and is not there fails the message, unless a
``default`` stands behind it: ``{{ guest.name | default: "there" }}``.  Instants are
written in local time: ``{{ booking.start_time | date: "%d.%m.%Y %H:%M" }}``, or in
full with ``{{ booking.start_time | local_time }}``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from tasks.automation.actions.base import CannotCompose
from tasks.models.reason import Reason
from tasks.saying import say
from tasks.templating.renderer import RENDERER, Refusal, Request
from tasks.templating.words import MISSING

SUBJECT_MAX: Final = 255  # characters
#: What breaks or hides in a line: controls, separators, halves of a character.
_NOT_IN_A_LINE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check_template(source: str, variables: Collection[str]) -> str | None:
    """Return what is wrong with a template; ``None`` when it can be saved.

    Args:
        variables: The dotted names that the rule's trigger gives.
    """
    return RENDERER.check(source, variables)


def render_all(requests: Sequence[Request]) -> list[list[str] | CannotCompose]:
    """Render many messages at once: the texts of each, or why it has none."""
    return [
        _refused(answer) if isinstance(answer, Refusal) else answer
        for answer in RENDERER.render_all(requests)
    ]


def clean_subject(text: str) -> str:
    """Return a rendered subject without the white space around it.

    Raises:
        CannotCompose: it is empty, too long or not one line.
    """
    subject = text.strip()
    if (problem := subject_problem(subject)) is not None:
        raise CannotCompose(Reason.BAD_MESSAGE, problem)
    return subject


def subject_problem(subject: str) -> str | None:
    """Return why ``subject`` cannot be a mail's subject; ``None`` when it can."""
    if not subject:
        return say("The subject is empty.")
    if len(subject) > SUBJECT_MAX:
        return say("The subject may have at most %(max)s characters.", max=SUBJECT_MAX)
    if _NOT_IN_A_LINE.search(subject):
        return say("The subject must be one line, without control characters.")
    if "=?" in subject:  # mail programs, and some Pythons, would decode it
        return say("The subject must not contain =?.")
    return None


def _refused(refusal: Refusal) -> CannotCompose:
    is_missing = refusal.why == MISSING
    reason = Reason.MISSING_VARIABLE if is_missing else Reason.BAD_MESSAGE
    return CannotCompose(reason, refusal.sentence)
