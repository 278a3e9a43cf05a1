"""YAML as plain values, with the line of each: only what JSON could say as well.

Anchors, aliases and tags are refused before anything is made of them, so no short file
becomes a huge value or an object.  ``yes``, ``08:30`` and dates are texts, unlike in
YAML 1.1.  ``dump`` writes what ``load`` reads back the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from tasks.errors import InvalidInput
from tasks.operations.typed_reading import joined
from tasks.saying import say

#: Values may nest this deep.
DEPTH_MAX: Final = 12
_INT: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT: Final = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}")
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
#: libyaml's parser where it is there: a megabyte takes a second, not ten.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Its writer as well, five times as quick; but it escapes what is above this.
_QUICK: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_QUICK_MAX: Final = "\uffff"


class InvalidYaml(InvalidInput):
    """A text is no YAML that is read here; ``line`` counts from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        told = say("Line %(n)s: %(problem)s", n=str(line), problem=sentence)
        super().__init__("invalid_yaml", told)
        self.line = line
        self.sentence = sentence


@dataclass(slots=True)
class _Builder:
    """Makes values of events; remembers the line of each path."""

    events: Iterator[Any]
    lines: dict[str, int] = field(default_factory=dict)

    def value(self, event: Any, path: str, depth: int) -> Any:  # noqa: ANN401  # PyYAML has no types
        line = _line_of(event)
        self.lines[path] = line
        _refuse_extras(event, line)
        if depth > DEPTH_MAX:
            deep = say("This nests deeper than %(max)s levels.", max=DEPTH_MAX)
            raise InvalidYaml(line, deep)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path, depth)
        return _scalar(event)

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            line = _line_of(event)
            _refuse_extras(event, line)
            if not isinstance(event, yaml.ScalarEvent):
                raise InvalidYaml(line, say("A name is expected here."))
            if event.value in found:
                twice = say("“%(name)s” stands here twice.", name=event.value[:40])
                raise InvalidYaml(line, twice)
            place = joined(path, event.value)
            found[event.value] = self.value(next(self.events), place, depth + 1)
            self.lines[place] = line
        return found

    def _sequence(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            found.append(self.value(event, f"{path}[{len(found)}]", depth + 1))
        return found


def load(text: str) -> tuple[Any, dict[str, int]]:
    """Return the one document of a text, and the line of each of its paths.

    Raises:
        InvalidYaml: with the line.
    """
    try:
        events = yaml.parse(text, Loader=_LOADER)
        builder = _Builder(events)
        next(events)  # the stream begins
        if isinstance(next(events), yaml.StreamEndEvent):
            return None, {"": 1}
        value = builder.value(next(events), "", 0)
        next(events)  # the document ends
        if not isinstance(another := next(events), yaml.StreamEndEvent):
            sentence = say("Only one document is read.")
            raise InvalidYaml(_line_of(another), sentence)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidYaml(
            line, say("This holds a character that is not allowed.")
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        sentence = say("This is no YAML: %(why)s.", why=error.problem)
        raise InvalidYaml(line, sentence) from error
    return value, builder.lines


def line_of(lines: dict[str, int], path: str) -> int:
    """Return the line of a path, or of what it would stand in."""
    while path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines[path]


def dump(value: object) -> str:
    """Return a JSON value as YAML, in its own order, long texts as blocks."""
    is_simple = max(json.dumps(value, ensure_ascii=False)) <= _QUICK_MAX
    written: str = yaml.dump(
        value,
        Dumper=_QuickDumper if is_simple else _Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=88,
    )
    return written


class _Plain:
    """Writes texts of several lines as they are read."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401  # PyYAML has no types
        """Write every value out: what is read knows no aliases."""
        del data
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    node: yaml.ScalarNode = dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=style
    )
    return node


class _Dumper(_Plain, yaml.SafeDumper):  # type: ignore[misc]  # it has no types
    """Writes every character as it is."""


class _QuickDumper(_Plain, _QUICK):  # type: ignore[misc]  # it has no types
    """Writes the characters that nearly all texts are made of."""


_Dumper.add_representer(str, _represent_text)
_QuickDumper.add_representer(str, _represent_text)


def _line_of(event: Any) -> int:  # noqa: ANN401  # PyYAML has no types
    return int(event.start_mark.line) + 1


def _refuse_extras(event: Any, line: int) -> None:  # noqa: ANN401  # PyYAML has no types
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise InvalidYaml(
            line, say("Anchors and aliases (& and *) are not read; repeat it.")
        )
    if event.tag is not None:
        raise InvalidYaml(line, say("Tags (!) are not read; leave it out."))


def _scalar(event: Any) -> Any:  # noqa: ANN401  # PyYAML has no types
    text: str = event.value
    is_plain = event.implicit[0]
    if not is_plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
