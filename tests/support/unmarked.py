"""Finds what people read and nobody has marked, in pages and in templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from gettext import NullTranslations
from html.parser import HTMLParser
from typing import Final

from jinja2 import Environment, nodes

#: Stand around every text that a catalog was asked for.
BEGIN: Final = "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}"
END: Final = "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"
#: Attributes that are read, or heard.
READ: Final = {"aria-label", "title", "placeholder", "alt", "data-label"}
#: What is in these is code or data, in any language.
NOT_READ: Final = {"script", "style", "code", "pre", "kbd", "textarea"}
_MARKED: Final = re.compile(f"{BEGIN}[^{BEGIN}{END}]*{END}")
#: Half of a page, and nothing to read.
_ICON: Final = re.compile(r'<svg class="(icon|brand-mark)".*?</svg>', re.DOTALL)
#: What marks a text in templates.
SAYS: Final = {"_", "gettext", "ngettext", "say", "say_many", "plural", "meant"}
#: Two words beside each other: no code is written so.
SENTENCE: Final = re.compile(r"[A-Za-z]{2,},? [A-Za-z]")
_CLASSES: Final = re.compile(r"([a-z]+-[a-z-]+ ?)+")  # of CSS
#: Calls that speak to people, and which of their arguments does.
SPOKEN: Final = {
    "flash": (0,),
    "InvalidInput": (1,),
    "NotFound": (1,),
    "Conflict": (1,),
    "SelectChoice": (1,),
    "Field": (0,),
    "ValidationError": (0,),
    "InputRequired": (0,),
    "DataRequired": (0,),
    "EqualTo": (1,),
    "AnyOf": (1,),
}
_CHUNK: Final = "\n\N{INFORMATION SEPARATOR ONE}\n"


class Pseudo(NullTranslations):
    """A language in which every text of the catalogs says so."""

    def gettext(self, message: str) -> str:
        return f"{BEGIN}{message}{END}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"{BEGIN}{msgid1 if n == 1 else msgid2}{END}"


class _Reader(HTMLParser):
    """Collects what is read on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.attributes: list[str] = []
        self._unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in NOT_READ:
            self._unread += 1
        given = dict(attrs)
        read = {name for name in given if name in READ}
        if tag == "input" and given.get("type") in {"submit", "button"}:
            read.add("value")
        self.attributes += [given[name] or "" for name in sorted(read)]

    def handle_endtag(self, tag: str) -> None:
        if tag in NOT_READ:
            self._unread -= 1

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.texts.append(data)


def unmarked(html: str) -> Iterator[str]:
    """Yield the pieces of a page that came from no catalog: data, or forgotten text."""
    reader = _Reader()
    reader.feed(_ICON.sub("", html))
    for whole in (_CHUNK.join(reader.texts), *reader.attributes):
        before = None
        while before != whole:  # texts stand in texts
            before, whole = whole, _MARKED.sub(" ", whole)
        for piece in whole.split(_CHUNK):
            if text := " ".join(piece.split()):
                yield text


def of_template(source: str) -> Iterator[str]:
    """Yield what a template says without having marked it, whatever it is given."""
    tree = _environment().parse(source)
    html = "".join(map(_shown, tree.find_all(nodes.Output)))
    yield from (text for text in unmarked(html) if '="' not in text)
    marked = {
        id(one)
        for call in tree.find_all((nodes.Call, nodes.Filter))
        if _name(call) in SAYS
        for one in call.find_all(nodes.Const)
    }
    for const in tree.find_all(nodes.Const):
        text = str(const.value)
        is_said = SENTENCE.search(text) and not _CLASSES.fullmatch(text)
        if is_said and id(const) not in marked:
            yield text


@lru_cache
def _environment() -> Environment:
    made = Environment(  # noqa: S701  # it renders nothing
        extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True
    )
    made.newstyle_gettext = True  # type: ignore[attr-defined]  # the extension's
    return made


def _name(node: nodes.Node) -> str:
    if isinstance(node, nodes.Filter):
        return node.name
    called = node.node
    return called.name if isinstance(called, nodes.Name) else ""


def _shown(node: nodes.Node) -> str:
    """Return what a node writes, as far as the template alone says it."""
    if isinstance(node, nodes.Output):
        return "".join(map(_shown, node.nodes))
    if isinstance(node, nodes.TemplateData):
        return node.data
    if isinstance(node, nodes.Const):
        return str(node.value)
    if isinstance(node, nodes.CondExpr):
        return f"{_shown(node.expr1)} {_shown(node.expr2) if node.expr2 else ''}"
    if isinstance(node, nodes.Or):
        return f"{_shown(node.left)} {_shown(node.right)}"
    if isinstance(node, nodes.Concat):
        return "".join(map(_shown, node.nodes))
    return ""


def of_module(source: str) -> Iterator[str]:
    """Yield the sentences that a module says to people without having marked them."""
    calls = (one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call))
    for call in calls:
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        places = SPOKEN.get("Field" if name.endswith("Field") else name, ())
        spoken = [call.args[at] for at in places if at < len(call.args)]
        spoken += [one.value for one in call.keywords if one.arg == "description"]
        for text in map(_written, spoken):
            if SENTENCE.search(text):
                yield text


def _written(node: ast.expr) -> str:
    """Return the text that an expression writes out; calls are not looked into."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_written, parts))
        case ast.FormattedValue():
            return "…"
        case ast.IfExp(body=one, orelse=other):
            return f"{_written(one)}|{_written(other)}"
        case ast.BinOp(left=one, right=other):
            return _written(one) + _written(other)
    return ""
