"""Answering requests: the part of rendering that runs in a process of its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from liquid import BoundTemplate
from liquid.exceptions import LiquidError, ResourceLimitError

from tasks.saying import language, mark, say
from tasks.templating.checking import (
    TOO_DEEP,
    TooBig,
    find_problem,
    sentence_of,
    too_big,
)
from tasks.templating.environment import HTML, TEXT, MissingValue, render
from tasks.templating.markup import as_text, cleaned
from tasks.templating.words import BAD, COSTLY, COSTLY_MAX, MISSING

_UNREADABLE: Final = mark("The values for this message cannot be read.")
#: Compiled templates that are kept.
_CACHED: Final = 256

Said = list[Any]
#: Kinds and numbers of the templates of one message.
Parts = list[tuple[str, int]]


class Answers:
    """Knows the templates it was told, and answers one request after the other.

    A request is a line of JSON: ``["begin", language]`` starts a batch and ``["source",
    number, text]`` tells a template; neither has an answer.  ``["render", [[kind,
    number], …], values]`` and ``["check", text, [name, …], language]`` are answered
    with a line: ``["ok", [text, …]]`` or ``[why, sentence]``, in that language.
    """

    def __init__(self) -> None:
        self._sources: dict[int, str] = {}
        self._costly: Counter[str] = Counter()

    def __call__(self, line: bytes) -> bytes | None:
        """Return the answer to one request; ``None``: none is due."""
        try:
            said = self._said(*json.loads(line))
        except (RecursionError, MemoryError):
            said = [COSTLY, say(TOO_DEEP)]
        except ValueError:  # of the JSON; templates' own are Liquid's errors
            said = [BAD, say(_UNREADABLE)]
        return None if said is None else json.dumps(said).encode() + b"\n"

    def _said(self, request: str, *told: Any) -> Said | None:  # noqa: ANN401  # JSON
        match request:
            case "begin":
                self._costly.clear()
                language.set(*told)
                return None
            case "source":
                number, text = told
                self._sources[number] = text
                return None
            case "check":
                *asked, spoken = told
                language.set(spoken)
                return ["ok", [find_problem(*asked)]]
            case _:
                return self._rendered(*told)

    def _rendered(self, parts: Parts, values: dict[str, Any]) -> Said:
        templates = str(parts)
        if self._costly[templates] >= COSTLY_MAX:
            why = say("The template is too much; see the other messages of it.")
            return [COSTLY, why]
        said = _rendered(parts, values, self._sources)
        if said[0] == COSTLY:
            self._costly[templates] += 1
        return said


def _rendered(parts: Parts, values: dict[str, Any], sources: Mapping[int, str]) -> Said:
    source = ""
    try:
        texts = []
        for kind, number in parts:
            source = sources[number]
            written = render(_parsed(kind != "text", source), values)
            texts.append(_KINDS[kind](_writable(written)))
    except MissingValue as error:
        why = say("The message needs %(name)s, which is missing.", name=error.name)
        return [MISSING, why]
    except ResourceLimitError as error:
        return [COSTLY, sentence_of(error, source)]
    except LiquidError as error:
        is_deep = isinstance(error.__cause__, RecursionError | MemoryError)
        return [COSTLY if is_deep else BAD, sentence_of(error, source)]
    except (RecursionError, MemoryError):
        return [COSTLY, say(TOO_DEEP)]
    return ["ok", texts]


def _as_it_is(text: str) -> str:
    return text


#: Kind of a part -> what becomes of the rendered text.
_KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    "text": _as_it_is,
    "html": _as_it_is,
    "fragment": cleaned,
    "plain": lambda text: as_text(cleaned(text)),
}


@lru_cache(maxsize=_CACHED)
def _parsed(is_html: bool, source: str) -> BoundTemplate:
    if (problem := too_big(source)) is not None:
        raise TooBig(problem, token=None)
    return (HTML if is_html else TEXT).from_string(source)


def _writable(text: str) -> str:
    # Lone surrogates cannot be written; everything else stays as it is.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
