"""Plain JSON values read into typed ones: every error names the place."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

_NAMES: Final = {str: "a text", int: "a whole number", bool: "true or false"}
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
        sentence = f"This must be {_NAMES[kind]}, not {_shown(value)}"
        is_meant = kind is str and isinstance(value, bool | int | float)
        return self._refuse(path, f"{sentence}{'; put it in quotes' * is_meant}.")

    def _tuple(self, kind: Any, value: object, path: str) -> Any:  # noqa: ANN401  # a type given at run time
        if not isinstance(value, list):
            return self._refuse(path, f"This must be a list, not {_shown(value)}.")
        read = [self.read(kind, each, f"{path}[{n}]") for n, each in enumerate(value)]
        return tuple(read)

    def _fields(self, kind: Any, value: object, path: str) -> Any:  # noqa: ANN401  # a type given at run time
        if not isinstance(value, Mapping):
            return self._refuse(
                path, f"This must be names with values, not {_shown(value)}."
            )
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
                self._refuse(path, f"“{name}” is missing here.")
        return kind(**found) if len(self.problems) == n_before else None

    def _word(self, kind: type[StrEnum], value: object, path: str) -> StrEnum | None:
        if isinstance(value, str) and value in set(kind):
            return kind(value)
        words = ", ".join(kind)
        self._refuse(path, f"This must be one of {words}, not {_shown(value)}.")
        return None

    def _mapping(self, value: object, path: str) -> Mapping[str, Any] | None:
        if not isinstance(value, Mapping) or not all(isinstance(n, str) for n in value):
            self._refuse(path, f"This must be names with values, not {_shown(value)}.")
            return None
        if _depth(value) > _DEPTH_MAX:
            self._refuse(path, f"This nests deeper than {_DEPTH_MAX} levels.")
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
    return f"There is no {_shown(name)} here. There are: {', '.join(known)}."


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "names with values"
    if isinstance(value, list):
        return "a list"
    text = "".join(char if char.isprintable() else " " for char in str(value))
    if len(text) > _SHOWN_MAX:
        text = f"{text[:_SHOWN_MAX]}…"
    return f"“{text}”"


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
