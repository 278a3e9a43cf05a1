"""Rendering many messages at once, in a process of its own that may die of it."""

from __future__ import annotations

import atexit
import json
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tasks.errors import EngineError
from tasks.saying import language, mark, say
from tasks.templating.process import Process
from tasks.templating.words import BAD, COSTLY, COSTLY_MAX

logger = logging.getLogger(__name__)

#: ``text``: as it is; ``html``: values are escaped; ``fragment``: and the markup is
#: cleaned; ``plain``: that, as plain text.
Kind = Literal["text", "html", "fragment", "plain"]

#: Bytes of the templates that one child keeps; then a fresh one begins.
_SOURCES_MAX: Final = 4_000_000
#: Bytes of the values for one message.
_VALUES_MAX: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """One message: its templates, each with its kind, and the values for all."""

    parts: tuple[tuple[Kind, str], ...]
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no text: ``missing``, ``bad`` or ``costly``, and a sentence."""

    why: str
    sentence: str


#: The texts in the order of the parts, or why there are none.
Answer = list[Any] | Refusal

_TOO_BIG: Final = mark("The values for this message are more than 2 MB.")
_ODD: Final = mark(
    "The values for this message are nested too deeply; make them simpler."
)
_STOPPED: Final = mark("The template is too much: rendering it was stopped.")


#: A request under way: its place in the batch, its parts, its values as JSON.
_Waiting = tuple[int, tuple[tuple[Kind, str], ...], bytes]
#: What every child can answer.
_PROBE: Final = b'["check","",[],"en"]\n'


class RenderingBroken(EngineError):
    """The process that renders cannot be started, or ends at once."""


class Renderer:
    """Keeps one child, starts it when it is needed, replaces it when it dies.

    Safe for several threads, and in a forked process.
    """

    def __init__(self, start: Callable[[], Process] = Process) -> None:
        self._start = start
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Begin anew: child and lock belong to the process that was forked."""
        self._lock = threading.Lock()
        self._child: Process | None = None
        self._numbers: dict[str, int] = {}  # of the templates that the child knows
        self._size = 0

    def render_all(self, requests: Sequence[Request]) -> list[Answer]:
        """Return the answer to each request; a hostile one fails alone.

        Raises:
            RenderingBroken: it cannot be done at all, whatever is asked.
        """
        values = [_encoded(each.values) for each in requests]
        answers: dict[int, Answer] = {
            n: each for n, each in enumerate(values) if isinstance(each, Refusal)
        }
        waiting = [
            (n, requests[n].parts, each)
            for n, each in enumerate(values)
            if isinstance(each, bytes)
        ]
        with self._lock:
            answers |= self._render(waiting)
        return [answers[n] for n in range(len(requests))]

    def check(self, source: str, names: Collection[str]) -> str | None:
        """Return what is wrong with a template; ``None`` when it can be used.

        Raises:
            RenderingBroken: it cannot be done at all, whatever is asked.
        """
        line = (
            json.dumps(["check", source, list(names), language.get()]).encode() + b"\n"
        )
        with self._lock:
            heard = self._converse([line], 1) or self._converse([line], 1)
            answer = heard[0] if heard else self._blamed()
        if isinstance(answer, Refusal):
            return answer.sentence
        problem: str | None = answer[0]
        return problem

    def close(self) -> None:
        """End the child; the next request starts another."""
        with self._lock:
            self._end(at_once=False)

    @property
    def pid(self) -> int | None:
        """The child's process id; None: there is none at the moment."""
        return self._child.pid if self._child else None

    def _render(self, waiting: list[_Waiting]) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        deaths: Counter[object] = Counter()
        while waiting:
            heard = self._converse(self._lines(waiting), len(waiting))
            answers.update(zip((n for n, _, _ in waiting), heard, strict=False))
            rest = waiting[len(heard) :]
            if rest:  # the child died of the next one, or so it seems
                n, parts, _ = rest[0]
                again = self._converse(self._lines(rest[:1]), 1)
                answers[n] = again[0] if again else self._blamed()
                deaths[parts] += not again
            waiting = []
            for each in rest[1:]:
                if deaths[each[1]] < COSTLY_MAX:
                    waiting.append(each)
                else:
                    answers[each[0]] = Refusal(COSTLY, say(_STOPPED))
        return answers

    def _lines(self, waiting: Sequence[_Waiting]) -> list[bytes]:
        if self._size > _SOURCES_MAX:
            self._end(at_once=False)
        lines = [json.dumps(["begin", language.get()]).encode() + b"\n"]
        for _, parts, values in waiting:
            numbers = [[kind, self._number(source, lines)] for kind, source in parts]
            head = json.dumps(numbers).encode()
            lines.append(b'["render",' + head + b"," + values + b"]\n")
        return lines

    def _number(self, source: str, lines: list[bytes]) -> int:
        number = self._numbers.get(source)
        if number is None:
            number = self._numbers[source] = len(self._numbers)
            self._size += len(source)
            lines.append(json.dumps(["source", number, source]).encode() + b"\n")
        return number

    def _converse(self, lines: Sequence[bytes], n_answers: int) -> list[Answer]:
        """Return the answers; fewer when the child died, which is replaced then."""
        if self._child is None:
            try:
                self._child = self._start()
            except OSError as error:
                raise RenderingBroken(
                    f"Templates cannot be rendered: {error}"
                ) from error
        heard = _readable(self._child.converse(b"".join(lines), n_answers))
        if len(heard) < n_answers:
            logger.warning("templating.child_replaced", extra={"pid": self.pid})
            self._end(at_once=True)
        return heard

    def _blamed(self) -> Refusal:
        """Return the refusal of what no child survives, if children live otherwise."""
        if not self._converse([_PROBE], 1):
            raise RenderingBroken(
                "Templates cannot be rendered: the process ends at once."
            )
        return Refusal(COSTLY, say(_STOPPED))

    def _end(self, *, at_once: bool) -> None:
        if self._child is not None:
            self._child.end(at_once=at_once)
        self._child = None
        self._numbers.clear()
        self._size = 0


def _readable(lines: Sequence[bytes]) -> list[Answer]:
    """Return the answers up to the first that is none."""
    answers: list[Answer] = []
    for line in lines:
        try:
            answers.append(_read(line))
        except ValueError:
            logger.warning("templating.no_answer", extra={"line": line[:200]})
            break
    return answers


def _read(line: bytes) -> Answer:
    word, said = json.loads(line)
    if word == "ok":
        texts: list[Any] = said
        return texts
    return Refusal(str(word), str(said))


def _encoded(values: Mapping[str, Any]) -> bytes | Refusal:
    """Return values as JSON; what JSON does not know becomes text."""
    try:
        encoded = json.dumps(dict(values), default=str, skipkeys=True).encode("ascii")
    except (ValueError, RecursionError):  # they contain themselves, or nearly so
        return Refusal(BAD, say(_ODD))
    is_good = len(encoded) <= _VALUES_MAX
    return encoded if is_good else Refusal(BAD, say(_TOO_BIG))


#: The renderer of this process.
RENDERER: Final = Renderer()
atexit.register(RENDERER.close)
