"""Finds every text that is marked in code and templates, and where.

It is what ``make catalogs`` and the tests ask; nothing of it runs in production.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from jinja2 import Environment, nodes

from tasks.saying import meant

#: A text, with what it is about if that matters; or one for one thing and one for many.
Text = str | tuple[str, str]
#: Functions that take a text, and which argument it is.
ONE: Final = {
    "say": 0,
    "mark": 0,
    "later": 0,
    "kept": 0,
    "_": 0,
    "gettext": 0,
}
#: Functions that take two texts, and where they begin.
MANY: Final = {"say_many": 1, "ngettext": 0}
#: Rows of tables that have texts in these places: whoever shows one says it.
ROWS: Final = {"Look": (0, 3), "Section": (1,)}


def nouns(root: Path) -> dict[str, set[Text]]:
    """Return the texts of each noun: the folder of pages or of the engine."""
    found: dict[str, set[Text]] = {}
    for folder in ("dashboard", "tasks"):
        for path in sorted((root / folder).rglob("*.py")):
            found.setdefault(_noun(path, root), set()).update(
                in_python(path.read_text())
            )
    for path in sorted((root / "templates").rglob("*.html")):
        found.setdefault(_noun(path, root), set()).update(in_template(path.read_text()))
    return {noun: texts for noun, texts in found.items() if texts}


def _noun(path: Path, root: Path) -> str:
    """Return the catalog of a file: its folder's name, or ``common``."""
    parts = path.relative_to(root).parts
    return parts[1] if len(parts) > 2 else "common"


def in_python(source: str) -> set[Text]:
    """Return the texts that a module marks.

    Raises:
        ValueError: a text is not written out, so nobody can find it.
    """
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    found: set[Text] = set()
    for call in calls:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        given = [
            one.value if isinstance(one, ast.Constant) else None for one in call.args
        ]
        found.update(_texts(name, given))
    return found


def in_template(source: str) -> set[Text]:
    """Return the texts that a template marks.

    Raises:
        ValueError: ``_`` was given something else than a text; a value goes through
            ``say``, which escapes it.
    """
    environment = Environment(  # noqa: S701  # it renders nothing
        extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True
    )
    environment.newstyle_gettext = True  # type: ignore[attr-defined]  # the extension's
    tree = environment.parse(source)
    found: set[Text] = set()
    for call in tree.find_all(nodes.Call):
        name = call.node.name if isinstance(call.node, nodes.Name) else ""
        given = [_constant(one) for one in call.args]
        if name in {"_", "gettext"} and given[:1] == [None]:
            raise ValueError(
                f"line {call.lineno}: _() takes a text that is written out"
            )
        found.update(_texts(name, given))
    for one in tree.find_all(nodes.Filter):
        if one.name == "plural":
            found.update(_plural(one))
    return found


def _constant(node: nodes.Expr) -> object:
    return node.value if isinstance(node, nodes.Const) else None


def _texts(name: str, given: Sequence[object]) -> Iterator[Text]:
    if name in ONE and given and isinstance(given[0], str):
        yield given[0]
    if name == "meant":
        yield from _meant(*given)
    for place in ROWS.get(name, ()):
        if given[place:] and isinstance(given[place], str) and given[place]:
            yield str(given[place])
    if name in MANY:
        one, many = (*given[MANY[name] :], None, None)[:2]
        if isinstance(one, str) and isinstance(many, str):
            yield one, many
    if name == "plural" and len(given) > 1 and isinstance(given[1], str):
        many = given[2] if len(given) > 2 else None
        yield given[1], many if isinstance(many, str) else given[1] + "s"


def _meant(about: object, text: object) -> Iterator[Text]:
    if isinstance(about, str) and isinstance(text, str):
        yield meant(about, text)


def _plural(node: nodes.Filter) -> Iterator[Text]:
    yield from _texts("plural", [None, *(_constant(one) for one in node.args)])
