"""Two versions of a rule side by side: what is different, field by field."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks.automation import condition_rows
from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS
from tasks.saying import mark, say

#: Field of a document -> what the form calls it; others are named by themselves.
_LABELS: Final = {
    "name": mark("Name"),
    "podcast_ids": mark("Applies to"),
    "trigger_type": mark("When"),
    "action": mark("Does"),
    "conditions": mark("Conditions"),
    "offset_value": mark("How long before or after"),
    "offset_unit": mark("Unit"),
    "offset_at": mark("Time of day"),
    "recipient": mark("Recipient"),
    "address": mark("Address"),
    "to": mark("To"),
    "subject": mark("Subject"),
    "text": mark("Text"),
    "html": mark("HTML version"),
    "look": mark("Built-in layout"),
    "calendar": mark("Calendar"),
    "transactional": mark("Transactional"),
    "url": mark("Address called"),
    "target": mark("Target"),
    "title": mark("Title"),
    "words": mark("Message"),
    "lane": mark("Lane"),
    "delay": mark("Delay"),
    "max_attempts": mark("Attempts"),
    "late_policy": mark("If it is late"),
    "late_limit": mark("At most so many minutes late"),
    "quiet_from": mark("Quiet from"),
    "quiet_until": mark("Quiet until"),
    "quiet_policy": mark("Quiet policy"),
    "retry_first_seconds": mark("First pause, in seconds"),
    "retry_longest_minutes": mark("Longest pause, in minutes"),
    "rate_limit": mark("Rate limit"),
    "rate_window_minutes": mark("Rate window, in minutes"),
}
#: Words of a few values: the form's own.
_WORDS: Final = {
    "minutes": mark("minutes"),
    "hours": mark("hours"),
    "days": mark("days"),
    "skip": mark("skip"),
    "send_now": mark("send_now"),
    "wait": mark("wait"),
    "guest": mark("guest"),
    "host": mark("host"),
    "contact": mark("contact"),
    "agent": mark("agent"),
    "fixed": mark("fixed"),
}
#: Fields whose values are such words.
_WORDED: Final = frozenset({"offset_unit", "late_policy", "quiet_policy", "recipient"})
#: Lines around a change in a long text.
_AROUND: Final = 2


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of two texts that are compared."""

    kind: str  # "same", "gone", "new" or "skipped"
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs."""

    label: str
    before: str
    after: str
    lines: tuple[TextLine, ...] = ()  # for texts of several lines, instead of both


def differences(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    titles: Mapping[str, str] | None = None,
) -> list[Difference]:
    """Return what differs between two documents, in the order of the form.

    Args:
        titles: podcast id -> title; an id without one stands for itself.
    """
    old = dict(_flat(before, titles or {}))
    new = dict(_flat(after, titles or {}))
    labels = [*new, *(label for label in old if label not in new)]
    return [
        _difference(label, old.get(label, ""), new.get(label, ""))
        for label in labels
        if old.get(label, "") != new.get(label, "")
    ]


def _flat(
    document: Mapping[str, Any], titles: Mapping[str, str], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the fields as a label and a text."""
    for name, value in document.items():
        if name == "settings":
            yield from _flat(value, titles, prefix)
        elif name == "steps":
            for place, step in enumerate(value, start=1):
                yield from _flat(step, titles, say("Step %(n)s: ", n=place))
        elif name != "number":
            label = _LABELS.get(name, name.replace("_", " ").capitalize())
            yield prefix + say(label), _text(name, value, titles)


def _text(name: str, value: Any, titles: Mapping[str, str]) -> str:  # noqa: ANN401  # a field of any type
    if name == "podcast_ids":
        ids = value if isinstance(value, list) else []
        named = sorted(titles.get(each, each) for each in ids)
        return ", ".join(named) or say("Every podcast")
    if name == "conditions":
        return condition_rows.sentence(value)
    if name == "trigger_type" and value in TRIGGERS:
        return say(TRIGGERS[value].title)
    if name == "action" and value in ACTIONS:
        return say(ACTIONS[value].title)
    if name in _WORDED and value in _WORDS:
        return say(_WORDS[value])
    return _plain(value)


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, list):
        return ", ".join(_plain(each) for each in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_plain(each)}" for name, each in value.items())
    return str(value)


def _difference(label: str, before: str, after: str) -> Difference:
    if "\n" in before or "\n" in after:
        return Difference(label, before, after, tuple(_lines(before, after)))
    return Difference(label, before, after)


def _lines(before: str, after: str) -> Iterator[TextLine]:
    old, new = before.splitlines(), after.splitlines()
    unified = difflib.unified_diff(old, new, lineterm="", n=_AROUND)
    for number, line in enumerate(list(unified)[2:]):  # without the names of files
        if line.startswith("@@"):
            if number:
                yield TextLine("skipped", "…")
        else:
            kind = {"+": "new", "-": "gone"}.get(line[:1], "same")
            yield TextLine(kind, line[1:])
