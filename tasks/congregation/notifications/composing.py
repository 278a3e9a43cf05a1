"""Putting one recipient's mail together: pure, from values that were read before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from html import escape
from itertools import groupby
from typing import Any, Final

from tasks.automation.actions.base import Message
from tasks.congregation.notifications.kind import Facts, Field, Kind, said
from tasks.congregation.notifications.kinds import CATEGORIES, KINDS
from tasks.congregation.notifications.words import Words, said_many

#: Lines of one mail; nobody reads more, and mail servers have limits.
LINES_MAX: Final = 100
_SUBJECT_MAX: Final = 150  # characters
_ORDER: Final = {type_: number for number, type_ in enumerate(KINDS)}

_HELLO: Final = said("Hello {name},")
_HELLO_NOBODY: Final = said("Hello,")
_DIGEST: Final = said_many("{category}: {n} message", "{category}: {n} messages")
_MORE: Final = said_many("… and {n} more.", "… and {n} more.")


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who gets a mail, and how they read."""

    address: str
    name: str
    words: Words
    congregation: str  # its name


@dataclass(frozen=True, slots=True)
class Entry:
    """One notification, as it is to be told now."""

    kind: Kind
    values: Mapping[str, Any]


def values_of(kind: Kind, payload: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Return the values of a type's texts; what was read just now counts.

    Raises:
        KeyError, ValueError: the payload is not as the type wants it.
    """
    told = {name: _read(kind.fields[name], payload[name]) for name in kind.fields}
    return {**told, **facts}


def _read(field: Field, value: Any) -> object:  # noqa: ANN401  # JSON
    match field:
        case "date":
            return date.fromisoformat(value)
        case "instant":
            return datetime.fromisoformat(value)
        case "number":
            return int(value)
    return str(value)


def message_of(to: Recipient, entries: Sequence[Entry]) -> Message:
    """Return one mail with all entries, as the way out of the house wants it.

    Raises:
        KeyError: a text wants a value that is not there.
    """
    ordered = sorted(entries, key=lambda entry: _ORDER[entry.kind.type])
    hello = _hello(to)
    sections = list(_sections(to.words, ordered))
    return {
        "to": to.address,
        "subject": _subject(to.words, ordered),
        "text": "\n\n".join([hello, *(_as_text(*each) for each in sections)]) + "\n",
        "html": "\n".join(
            [f"<p>{escape(hello)}</p>", *(_as_html(*each) for each in sections)]
        ),
        "look": {"sender": to.congregation},
        "locale": to.words.locale,
        # Only then is there a link to unsubscribe.
        "optional": not all(entry.kind.transactional for entry in ordered),
    }


def _hello(to: Recipient) -> str:
    if to.name.strip():
        return to.words.say(_HELLO, {"name": to.name})
    return to.words.say(_HELLO_NOBODY)


def _subject(words: Words, entries: Sequence[Entry]) -> str:
    first = entries[0]
    if len(entries) == 1:
        subject = words.say(first.kind.subject, first.values)
    else:
        category = words.say(CATEGORIES[first.kind.category])
        subject = words.count(_DIGEST, len(entries), category=category)
    # What people wrote must not look like an encoded word, nor break the line.
    clean = "".join(char if char.isprintable() else " " for char in subject)
    clean = clean.replace("=?", "= ?")
    if len(clean) > _SUBJECT_MAX:
        clean = clean[: _SUBJECT_MAX - 1].rstrip() + "…"
    return clean


#: A heading, its lines, and how many more there are than are written.
_Section = tuple[str, list[str], str]


def _sections(words: Words, entries: Sequence[Entry]) -> Iterator[_Section]:
    room = LINES_MAX
    for _, group in groupby(entries, key=lambda entry: entry.kind.type):
        several = list(group)
        lines = [words.say(each.kind.line, each.values) for each in several[:room]]
        n_left = len(several) - len(lines)
        room -= len(lines)
        more = words.count(_MORE, n_left) if n_left else ""
        heading = words.say(several[0].kind.heading) if len(entries) > 1 else ""
        yield heading, lines, more


def _as_text(heading: str, lines: Sequence[str], more: str) -> str:
    if not heading:
        return lines[0]
    rows = [heading, *(f"- {line}" for line in lines)]
    return "\n".join([*rows, more] if more else rows)


def _as_html(heading: str, lines: Sequence[str], more: str) -> str:
    if not heading:
        return f"<p>{escape(lines[0])}</p>"
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    written = f"<h3>{escape(heading)}</h3>"
    if items:
        written += f"<ul>{items}</ul>"
    return written + (f"<p>{escape(more)}</p>" if more else "")
