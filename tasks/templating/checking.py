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

from tasks.templating.environment import TAG_NAMES, TEXT, render
from tasks.templating.filters import FILTERS
from tasks.templating.limits import SOURCE_MAX, TAGS_MAX
from tasks.templating.samples import sample_values

#: Names that stand only inside or at the end of a block.
_PARTS: Final = frozenset({"else", "elsif", "when"})
#: Ends of a path that every list or text has.
_BUILT_IN: Final = frozenset({"size", "first", "last"})
_SHOWN: Final = 8  # names listed in a sentence at most
_TOO_DEEP: Final = "The template is nested too deeply; make it simpler."
_UNDECODABLE: Final = "The template contains a character that cannot be sent."


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
        return _TOO_DEEP


def parse(source: str) -> BoundTemplate:
    """Parse ``source`` for a look at it.

    Raises:
        LiquidError, RecursionError, MemoryError: it is no template, or too big a one.
    """
    if (problem := too_big(source)) is not None:
        raise ResourceLimitError(problem, token=None)
    return TEXT.from_string(source)


def too_big(source: str) -> str | None:
    """Return a sentence when ``source`` is beyond the limits."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return _UNDECODABLE
    if size > SOURCE_MAX:
        return f"The template may have at most {SOURCE_MAX // 1000} kB."
    if source.count("{{") + source.count("{%") > TAGS_MAX:
        return f"The template may have at most {TAGS_MAX} tags."
    return None


def sentence_of(error: LiquidError, source: str) -> str:
    """Return what Liquid found, as a sentence with its line."""
    message = str(error.message or "it cannot be read")
    if isinstance(error, ResourceLimitError):
        is_sentence = message.startswith("The ")
        return message if is_sentence else f"The template is too much: {message}."
    if isinstance(error.__cause__, RecursionError | MemoryError):
        return _TOO_DEEP
    words = f"{_where(error, source)}{_in_our_words(message)}"
    stop = "" if words.endswith((".", "?")) else "."
    return f"{words[0].upper()}{words[1:]}{stop}"


def _in_our_words(message: str) -> str:
    if found := re.fullmatch(r"unexpected tag '(.*)'", message, re.DOTALL):
        return _no_such_tag(found.group(1))
    if found := re.match(r"expected tag (\w+), found", message):
        return f"{{% {found.group(1)} %}} is missing"
    if found := re.fullmatch(r"unknown filter '(.*)'", message):
        return _no_such("filter", found.group(1), sorted(FILTERS))
    if found := re.match(r"(\w+)\(\) (missing|takes|got)", message):
        return f"the filter {found.group(1).strip('_')} has too few or too many values"
    if message == "expected '}}', found end of file":
        return "}} is missing"
    if message.startswith("expected a primitive expression"):
        return "a value is missing or not written as one"
    return message.replace("end of expression", "nothing")


def _where(error: LiquidError, source: str) -> str:
    token = error.token
    if token is None or token.start_index < 0:
        return ""
    return f"Line {_line(source, token.start_index)}: "


def _line(source: str, index: int) -> int:
    return source.count("\n", 0, index) + 1


def _no_such_tag(name: str) -> str:
    if name == "end of expression":
        return "a block has no end"
    if name.startswith("end") or name in _PARTS:
        return f"{{% {name} %}} stands outside its block"
    return _no_such("tag", name, TAG_NAMES)


def _no_such(kind: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}."
    return f"there is no {kind} {name[:40]!r}; {hint}"


def _unknown(
    analysis: TemplateAnalysis, source: str, variables: Collection[str]
) -> str | None:
    for name, spans in analysis.filters.items():
        if name not in FILTERS:
            sentence = _no_such("filter", name, sorted(FILTERS))
            return f"Line {_line(source, spans[0].index)}: {sentence}"
    for used in analysis.globals.values():
        for variable in used:
            if (problem := _problem_with(variable, variables)) is not None:
                return f"Line {_line(source, variable.span.index)}: {problem}"
    return None


def _problem_with(variable: Variable, variables: Collection[str]) -> str | None:
    segments = variable.segments
    if not all(isinstance(segment, str | int) for segment in segments):
        return f"write {variable} with dots, such as guest.name."
    names = [str(segment) for segment in segments]
    name = ".".join(names)
    stem = name.rpartition(".")[0] if names[-1] in _BUILT_IN else name
    if name in variables or stem in variables or _is_open(name, variables):
        return None
    members = [each for each in variables if each.startswith(f"{name}.")]
    if members:
        return f"{name} is a group of values; choose one, such as {members[0]}."
    return _no_such_value(name, list(variables))


def _is_open(name: str, variables: Collection[str]) -> bool:
    """Whether it is within metadata, whose names producers choose."""
    return any(
        each.endswith(".metadata") and name.startswith(f"{each}.") for each in variables
    )


def _no_such_value(name: str, variables: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, variables, n=1, cutoff=0.7)
    if close:
        return f"there is no value {name[:80]!r}; did you mean {close[0]}?"
    root = name.partition(".")[0]
    near = [each for each in variables if each.startswith(f"{root}.")] or variables
    more = ", …" if len(near) > _SHOWN else ""
    shown = ", ".join(near[:_SHOWN])
    return f"there is no value {name[:80]!r}; there are {shown}{more}."


def _trial(template: BoundTemplate, variables: Collection[str]) -> str | None:
    """Render with samples: some limits only show when it runs."""
    try:
        render(template, sample_values(variables))
    except (ResourceLimitError, LiquidTypeError, FilterArgumentError):
        raise
    except LiquidError:
        return None  # a sample is not a real value; sending will tell
    return None
