"""Plain JSON values read into typed ones: every error names the place."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from tasks.saying import mark, say

_EXPECTED: Final = {
    str: mark("This must be a text, not %(value)s."),
    int: mark("This must be a whole number, not %(value)s."),
    bool: mark("This must be true or false, not %(value)s."),
}
#: Values inside of free-form parts may nest this deep.
_DEPTH_MAX: Final = 10
#: The longest piece of a wrong value that an error repeats.
_SHOWN_MAX: Final = 40


@dataclass(slots=True)
class Reading:
    """Values being read; ``problems`` gathers a sentence for each wrong place."""

    problems: dict[str, str] = field(default_factory=dict)  # path -> sentence

    def read(self, kind: Any, value: object, path: str) -> Any:  # noqa: ANN401  # a type given at run time
        """Return ``value`` as a ``kind``; None, and a problem at ``path``, if wrong.

        Args:
            kind: a dataclass, a StrEnum, str, int, bool, ``X | None``,
                ``tuple[X, ...]`` or a Mapping of free JSON values.
        """
        origin = get_origin(kind)
        if origin in {Union, types.UnionType}:
            given = next(each for each in get_args(kind) if each is not type(None))
            return None if value is None else self.read(given, value, path)
        if origin is tuple:
            return self._tuple(get_args(kind)[0], value, path)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapping(value, path)
        if is_dataclass(kind):
            return self._fields(kind, value, path)
        if issubclass(kind, StrEnum):
            return self._word(kind, value, path)
        if type(value) is kind:
            return value
        shown = _shown(value)
        if kind is str and isinstance(value, bool | int | float):
            quoted = say(
                "This must be a text, not %(value)s; put it in quotes.", value=shown
            )
            return self._refuse(path, quoted)
        return self._refuse(path, say(_EXPECTED[kind], value=shown))

    def _tuple(self, kind: Any, value: object, path: str) -> Any:  # noqa: ANN401  # a type given at run time
        if not isinstance(value, list):
            wrong = say("This must be a list, not %(value)s.", value=_shown(value))
            return self._refuse(path, wrong)
        read = [self.read(kind, each, f"{path}[{n}]") for n, each in enumerate(value)]
        return tuple(read)

    def _fields(self, kind: Any, value: object, path: str) -> Any:  # noqa: ANN401  # a type given at run time
        if not isinstance(value, Mapping):
            return self._refuse(path, _no_names(value))
        hints = get_type_hints(kind)
        known = {each.name: each for each in fields(kind)}
        for name in value.keys() - known.keys():
            self._refuse(joined(path, name), _unknown(name, known))
        n_before = len(self.problems)
        found = {}
        for name, each in known.items():
            if name in value:
                place = joined(path, name)
                found[name] = self.read(hints[name], value[name], place)
            elif not _has_default(each):
                self._refuse(path, say("“%(name)s” is missing here.", name=name))
        return kind(**found) if len(self.problems) == n_before else None

    def _word(self, kind: type[StrEnum], value: object, path: str) -> StrEnum | None:
        if isinstance(value, str) and value in set(kind):
            return kind(value)
        words = ", ".join(kind)
        wrong = say(
            "This must be one of %(words)s, not %(value)s.",
            words=words,
            value=_shown(value),
        )
        self._refuse(path, wrong)
        return None

    def _mapping(self, value: object, path: str) -> Mapping[str, Any] | None:
        if not isinstance(value, Mapping) or not all(isinstance(n, str) for n in value):
            self._refuse(path, _no_names(value))
            return None
        if _depth(value) > _DEPTH_MAX:
            deep = say("This nests deeper than %(max)s levels.", max=_DEPTH_MAX)
            self._refuse(path, deep)
            return None
        return dict(value)

    def _refuse(self, path: str, sentence: str) -> None:
        self.problems.setdefault(path, sentence)


def joined(path: str, name: object) -> str:
    """Return the path of a name inside of ``path``."""
    return f"{path}.{name}" if path else str(name)


def _has_default(each: Field[Any]) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def _unknown(name: object, known: Mapping[str, object]) -> str:
    return say(
        "There is no %(name)s here. There are: %(known)s.",
        name=_shown(name),
        known=", ".join(known),
    )


def _no_names(value: object) -> str:
    return say("This must be names with values, not %(value)s.", value=_shown(value))


def _shown(value: object) -> str:
    if value is None:
        return say("nothing")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return say("names with values")
    if isinstance(value, list):
        return say("a list")
    text = "".join(char if char.isprintable() else " " for char in str(value))
    if len(text) > _SHOWN_MAX:
        text = f"{text[:_SHOWN_MAX]}…"
    return say("“%(text)s”", text=text)


def _depth(value: object) -> int:
    """Return how deep a value nests; stops looking just past the limit."""
    depth, layer = 0, [value]
    while layer and depth <= _DEPTH_MAX:
        depth += 1
        inner: list[object] = []
        for each in layer:
            if isinstance(each, Mapping):
                inner.extend(each.values())
            elif isinstance(each, list):
                inner.extend(each)
        layer = inner
    return depth
