"""The Liquid that operators write: few tags, plain values, nothing without a limit."""

from __future__ import annotations

from io import StringIO
from typing import Any, ClassVar, Final, TextIO

from liquid import BoundTemplate, Environment, RenderContext, Token
from liquid.builtin import content, illegal
from liquid.builtin import output as liquid_output
from liquid.builtin.expressions import FilteredExpression, Path
from liquid.builtin.tags import (
    assign_tag,
    capture_tag,
    case_tag,
    comment_tag,
    for_tag,
    if_tag,
    inline_comment_tag,
    unless_tag,
)
from liquid.exceptions import (
    FilterValueError,
    LiquidError,
    LoopIterationLimitError,
)
from liquid.stringify import to_liquid_string
from liquid.tag import Tag
from liquid.undefined import UNDEFINED, Undefined, is_undefined
from liquid.utils import ReadOnlyChainMap

from tasks.saying import say
from tasks.templating.filters import FILTERS
from tasks.templating.limits import (
    LOCALS_MAX,
    NESTING_MAX,
    OUTPUT_MAX,
    STEPS_MAX,
    Stopwatch,
)

#: The tags that operators may write; the rest (include, render, …) does not exist.
TAG_NAMES: Final = ("if", "unless", "case", "for", "assign", "capture", "comment")


class MissingValue(LiquidError):
    """A value that is to be written is not there; ``name`` tells which."""

    def __init__(self, name: str, *, token: Token | None) -> None:
        super().__init__(f"{name} is missing", token=token)
        self.name = name


class _Context(RenderContext):
    """Knows no ``now``, counts all loops together, and looks at the stopwatch."""

    def __init__(self, template: BoundTemplate, **options: Any) -> None:  # noqa: ANN401  # passed on to the library
        super().__init__(template, **options)
        self.scope = ReadOnlyChainMap(self.locals, self.globals)
        self.stopwatch = Stopwatch()
        self.n_steps = 0

    def get(
        self, path: list[object], *, token: Token | None, default: object = UNDEFINED
    ) -> object:
        """Look a value up; null counts as missing."""
        self.stopwatch.check()
        found = super().get(path, token=token, default=default)
        if found is None and default is UNDEFINED:
            name = ".".join(str(segment) for segment in path)
            return self.env.undefined(name, hint=name, token=token)
        return found

    def raise_for_loop_limit(self, length: int = 1) -> None:
        self.stopwatch.check()
        self.n_steps += length
        if self.n_steps > STEPS_MAX:
            problem = say("its loops take more than %(max)s steps", max=str(STEPS_MAX))
            raise LoopIterationLimitError(problem, token=None)


class _Template(BoundTemplate):
    context_class = _Context


class _OutputNode(liquid_output.OutputNode):
    """Writes a value, and refuses to write one that is not there."""

    def render_to_output(self, context: RenderContext, buffer: TextIO) -> int:
        value = self._value(context)
        if isinstance(value, dict):
            raise FilterValueError(
                say(
                    "%(name)s is a group of values; choose one of them",
                    name=self.expression,
                ),
                token=self.token,
            )
        return buffer.write(to_liquid_string(value, context.autoescape))

    def _value(self, context: RenderContext) -> object:
        expression = self.expression
        if not isinstance(expression, FilteredExpression):
            return expression.evaluate(context)
        left = value = expression.left.evaluate(context)
        filters = expression.filters or []
        for each in filters:
            value = each.evaluate(value, context)
        has_default = any(each.name == "default" for each in filters)
        if _is_missing(value) or (
            not has_default and _is_given(expression.left, context) and _is_blank(left)
        ):
            raise MissingValue(_name_of(value, expression.left), token=self.token)
        return value


def _name_of(missing: object, expression: object) -> str:
    """Return what is missing: it may be an argument, or come from an assignment."""
    hint = missing.hint if isinstance(missing, Undefined) else None
    name = (hint or "").removesuffix(" is undefined").strip("'")
    written = str(expression)
    return written if not name or written.startswith(f"{name}.") else name


def _is_missing(value: object) -> bool:
    return value is None or is_undefined(value)


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _is_given(expression: object, context: RenderContext) -> bool:
    """Whether the expression names a value of the event, not one the template made."""
    if not isinstance(expression, Path):
        return False
    root = expression.head()
    return root in context.globals and root not in context.locals


class _Output(liquid_output.Output):
    node_class = _OutputNode


class MessageEnvironment(Environment):
    """Parses templates; one for text, one that escapes for HTML."""

    block_nesting_limit: ClassVar[int] = NESTING_MAX
    loop_iteration_limit: ClassVar[int | None] = STEPS_MAX
    local_namespace_limit: ClassVar[int | None] = LOCALS_MAX
    output_stream_limit: ClassVar[int | None] = OUTPUT_MAX
    template_class = _Template

    def setup_tags_and_filters(self, *, extra: bool = False) -> None:
        """Add what operators may use, instead of all that Liquid has."""
        for tag in _TAGS:
            self.add_tag(tag)
        self.filters.update(FILTERS)


_TAGS: Final[tuple[type[Tag], ...]] = (
    content.Literal,
    _Output,
    illegal.Illegal,
    if_tag.IfTag,
    unless_tag.UnlessTag,
    case_tag.CaseTag,
    for_tag.ForTag,
    for_tag.BreakTag,
    for_tag.ContinueTag,
    assign_tag.AssignTag,
    capture_tag.CaptureTag,
    comment_tag.CommentTag,
    inline_comment_tag.InlineCommentTag,
)

TEXT: Final = MessageEnvironment()
HTML: Final = MessageEnvironment(autoescape=True)


def render(template: BoundTemplate, values: dict[str, object]) -> str:
    """Render ``template`` with plain values; raises what Liquid raises."""
    context = _Context(template, globals=values)
    buffer: StringIO = context.get_buffer()
    template.render_with_context(context, buffer)
    return buffer.getvalue()
