"""What is wrong with a template, in a sentence for the operator who writes it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from typing import Final

from liquid import BoundTemplate
from liquid.exceptions import (
    FilterArgumentError,
    LiquidError,
    LiquidTypeError,
    ResourceLimitError,
)
from liquid.static_analysis import TemplateAnalysis, Variable

from tasks.saying import mark, say
from tasks.templating.environment import TAG_NAMES, TEXT, render
from tasks.templating.filters import FILTERS
from tasks.templating.limits import SOURCE_MAX, TAGS_MAX
from tasks.templating.samples import sample_values

#: Names that stand only inside or at the end of a block.
_PARTS: Final = frozenset({"else", "elsif", "when"})
#: Ends of a path that every list or text has.
_BUILT_IN: Final = frozenset({"size", "first", "last"})
_SHOWN: Final = 8  # names listed in a sentence at most
TOO_DEEP: Final = mark("The template is nested too deeply; make it simpler.")
#: What is said of a filter or tag that is none: with one that is near, or all of them.
_NEAR: Final = {
    "filter": mark("there is no filter %(name)s; did you mean %(near)s?"),
    "tag": mark("there is no tag %(name)s; did you mean %(near)s?"),
}
_KNOWN: Final = {
    "filter": mark("there is no filter %(name)s; there are %(known)s."),
    "tag": mark("there is no tag %(name)s; there are %(known)s."),
}

#: Liquid's own limits, in its words.
_LIMITS: Final = frozenset(
    {
        mark("block nesting limit reached"),
        mark("local namespace limit reached"),
        mark("loop iteration limit reached"),
        mark("output stream limit reached"),
        mark("range literal length limit reached"),
    }
)

#: What else Liquid says of what it cannot read.
_SAID: Final = frozenset(
    {
        mark("comment tag was never closed"),
        mark("expected a string or identifier"),
        mark("expected at least one argument"),
        mark("found an 'else' tag expression, did you mean 'elsif'?"),
        mark("invalid identifier"),
        mark("missing expression"),
        mark("missing or unexpected path segment"),
        mark("missing tag name or closing delimiter"),
        mark("unbalanced parentheses"),
        mark("unexpected expression"),
    }
)
_PATTERNS: Final = (
    (
        re.compile(r"expected (?P<wanted>.*), found (?P<found>.*)", re.DOTALL),
        mark("expected %(wanted)s, found %(found)s"),
    ),
    (
        re.compile(r"unexpected (?P<found>'.*')", re.DOTALL),
        mark("unexpected %(found)s"),
    ),
    (
        re.compile(r"unknown operator (?P<found>.*)", re.DOTALL),
        mark("unknown operator %(found)s"),
    ),
)


class TooBig(ResourceLimitError):
    """The template is beyond the limits; its message is a whole sentence."""


def find_problem(source: str, variables: Collection[str]) -> str | None:
    """Return what is wrong with ``source``; ``None`` when it can be used.

    Args:
        variables: The dotted names that will have values.
    """
    try:
        template = parse(source)
        return _unknown(
            template.analyze(include_partials=False), source, variables
        ) or (_trial(template, variables))
    except LiquidError as error:
        return sentence_of(error, source)
    except (RecursionError, MemoryError):
        return say(TOO_DEEP)


def parse(source: str) -> BoundTemplate:
    """Parse ``source`` for a look at it.

    Raises:
        LiquidError, RecursionError, MemoryError: it is no template, or too big a one.
    """
    if (problem := too_big(source)) is not None:
        raise TooBig(problem, token=None)
    return TEXT.from_string(source)


def too_big(source: str) -> str | None:
    """Return a sentence when ``source`` is beyond the limits."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return say("The template contains a character that cannot be sent.")
    if size > SOURCE_MAX:
        size_max = SOURCE_MAX // 1000
        return say("The template may have at most %(max)s kB.", max=size_max)
    if source.count("{{") + source.count("{%") > TAGS_MAX:
        return say("The template may have at most %(max)s tags.", max=str(TAGS_MAX))
    return None


def sentence_of(error: LiquidError, source: str) -> str:
    """Return what Liquid found, as a sentence with its line."""
    message = str(error.message or say("it cannot be read"))
    if isinstance(error, TooBig):
        return message
    if isinstance(error, ResourceLimitError):
        why = say(message) if message in _LIMITS else message
        return say("The template is too much: %(why)s.", why=why)
    if isinstance(error.__cause__, RecursionError | MemoryError):
        return say(TOO_DEEP)
    words = _where(error, source, _in_our_words(message))
    stop = "" if words.endswith((".", "?")) else "."
    return f"{words[0].upper()}{words[1:]}{stop}"


def _in_our_words(message: str) -> str:
    if found := re.fullmatch(r"unexpected tag '(.*)'", message, re.DOTALL):
        return _no_such_tag(found.group(1))
    if found := re.match(r"expected tag (\w+), found", message):
        return say("{%% %(tag)s %%} is missing", tag=found.group(1))
    if found := re.fullmatch(r"unknown filter '(.*)'", message):
        return _no_such("filter", found.group(1), sorted(FILTERS))
    if found := re.match(r"(\w+)\(\) (missing|takes|got)", message):
        return say(
            "the filter %(filter)s has too few or too many values",
            filter=found.group(1).strip("_"),
        )
    if message == "expected '}}', found end of file":
        return say("}} is missing")
    if message.startswith("expected a primitive expression"):
        return say("a value is missing or not written as one")
    return _liquids_own(message.replace("end of expression", say("nothing")))


def _liquids_own(message: str) -> str:
    if message in _SAID:
        return say(message)
    for pattern, text in _PATTERNS:
        if found := pattern.fullmatch(message):
            return say(text, **found.groupdict())
    return message


def _where(error: LiquidError, source: str, problem: str) -> str:
    token = error.token
    if token is None or token.start_index < 0:
        return problem
    return _at_line(source, token.start_index, problem)


def _at_line(source: str, index: int, problem: str) -> str:
    n = str(_line(source, index))
    return say("Line %(n)s: %(problem)s", n=n, problem=problem)


def _line(source: str, index: int) -> int:
    return source.count("\n", 0, index) + 1


def _no_such_tag(name: str) -> str:
    if name == "end of expression":
        return say("a block has no end")
    if name.startswith("end") or name in _PARTS:
        return say("{%% %(tag)s %%} stands outside its block", tag=name)
    return _no_such("tag", name, TAG_NAMES)


def _no_such(kind: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    shown = repr(name[:40])
    if close:
        return say(_NEAR[kind], name=shown, near=close[0])
    return say(_KNOWN[kind], name=shown, known=", ".join(known))


def _unknown(
    analysis: TemplateAnalysis, source: str, variables: Collection[str]
) -> str | None:
    for name, spans in analysis.filters.items():
        if name not in FILTERS:
            sentence = _no_such("filter", name, sorted(FILTERS))
            return _at_line(source, spans[0].index, sentence)
    for used in analysis.globals.values():
        for variable in used:
            if (problem := _problem_with(variable, variables)) is not None:
                return _at_line(source, variable.span.index, problem)
    return None


def _problem_with(variable: Variable, variables: Collection[str]) -> str | None:
    segments = variable.segments
    if not all(isinstance(segment, str | int) for segment in segments):
        return say("write %(name)s with dots, such as guest.name.", name=variable)
    names = [str(segment) for segment in segments]
    name = ".".join(names)
    stem = name.rpartition(".")[0] if names[-1] in _BUILT_IN else name
    if name in variables or stem in variables or _is_open(name, variables):
        return None
    members = [each for each in variables if each.startswith(f"{name}.")]
    if members:
        return say(
            "%(name)s is a group of values; choose one, such as %(member)s.",
            name=name,
            member=members[0],
        )
    return _no_such_value(name, list(variables))


def _is_open(name: str, variables: Collection[str]) -> bool:
    """Whether it is within metadata, whose names producers choose."""
    return any(
        each.endswith(".metadata") and name.startswith(f"{each}.") for each in variables
    )


def _no_such_value(name: str, variables: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, variables, n=1, cutoff=0.7)
    if close:
        return say(
            "there is no value %(name)s; did you mean %(near)s?",
            name=repr(name[:80]),
            near=close[0],
        )
    root = name.partition(".")[0]
    near = [each for each in variables if each.startswith(f"{root}.")] or variables
    more = ", …" if len(near) > _SHOWN else ""
    shown = ", ".join(near[:_SHOWN])
    return say(
        "there is no value %(name)s; there are %(known)s.",
        name=repr(name[:80]),
        known=f"{shown}{more}",
    )


def _trial(template: BoundTemplate, variables: Collection[str]) -> str | None:
    """Render with samples: some limits only show when it runs."""
    try:
        render(template, sample_values(variables))
    except (ResourceLimitError, LiquidTypeError, FilterArgumentError):
        raise
    except LiquidError:
        return None  # a sample is not a real value; sending will tell
    return None
