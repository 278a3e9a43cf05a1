"""The directions and limits that ARCHITECTURE.md and CONTRIBUTING.md name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tasks.crashpoints import OTHER_POINTS, POINTS

ROOT = Path(__file__).parent.parent
MODULES = [
    path
    for folder in ("dashboard", "tasks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.parent.name != "versions"
]
ENGINE = [path for path in MODULES if path.is_relative_to(ROOT / "tasks")]
LANES = sorted((ROOT / "tasks" / "lanes").glob("[a-z]*.py"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))

#: The outer bounds; most are far below.
MODULE_LINES = 350
FUNCTION_LINES = 50
TEMPLATE_LINES = 100


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of everything that a module imports, anywhere in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{each.name}" for each in node.names)


def importers(paths: Iterable[Path], *packages: str) -> set[str]:
    """Return the modules of ``paths`` that import one of ``packages``."""
    return {
        short(path)
        for path in paths
        for name in imports(path)
        if any(name == each or name.startswith(f"{each}.") for each in packages)
    }


def matches(paths: Iterable[Path], pattern: str) -> list[str]:
    """Return every place in ``paths`` where ``pattern`` is found."""
    return [
        f"{short(path)}: {found.group(0)}"
        for path in paths
        for found in re.finditer(pattern, path.read_text(encoding="utf-8"))
    ]


def test_the_engine_knows_nothing_of_the_console_or_its_libraries() -> None:
    console = ("dashboard", "wsgi", "tests", "jinja2", "werkzeug", "wtforms")
    flask = {name for path in ENGINE for name in imports(path) if "flask" in name}
    assert importers(ENGINE, *console) == set()
    assert flask == set()


def test_huey_and_redis_are_known_to_the_queue_and_the_consumers_only() -> None:
    assert importers(MODULES, "huey") <= {"tasks/queue.py", "tasks/consumer.py"}
    assert importers(MODULES, "redis") <= {"tasks/queue.py"}


@pytest.mark.parametrize("lane", LANES, ids=short)
def test_a_lane_imports_no_other_lane(lane: Path) -> None:
    others = [f"tasks.lanes.{other.stem}" for other in LANES if other != lane]
    assert importers([lane], *others) == set()


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("models", ["automation", "lanes", "operations", "registry", "queue"]),
        ("automation", ["lanes", "registry", "runner", "worker", "queue"]),
        ("lanes", ["registry", "runner", "worker", "queue"]),
        ("operations", ["queue", "worker", "runner"]),
    ],
)
def test_inner_layers_do_not_import_outer_ones(inner: str, outer: list[str]) -> None:
    paths = (ROOT / "tasks" / inner).rglob("*.py")
    assert importers(paths, *(f"tasks.{each}" for each in outer)) == set()


def test_the_engine_never_commits() -> None:
    """But for the end of what has only read, which keeps prepared statements."""
    assert matches(ENGINE, r"\.commit\(") == ["tasks/db.py: .commit("]


def test_nothing_runs_or_unpickles_what_was_sent_to_it() -> None:
    assert importers(MODULES, "pickle", "marshal", "shelve", "dill") == set()
    called = {
        f"{short(path)}: {node.func.id}"
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"eval", "exec", "compile", "render_template_string"}
    }
    assert called == set()


def test_the_list_of_crash_points_names_every_one() -> None:
    passed = {
        name
        for path in ENGINE
        for name in re.findall(r'reached\("(\w+)"\)', path.read_text(encoding="utf-8"))
    }
    assert passed == {*POINTS, *OTHER_POINTS}


def test_modules_and_functions_stay_readable() -> None:
    long = [
        f"{short(path)}: {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= FUNCTION_LINES
    ]
    long += [
        short(path)
        for path in MODULES
        if path.read_text(encoding="utf-8").count("\n") > MODULE_LINES
    ]
    assert long == []


def test_templates_escape_everything_and_stay_readable() -> None:
    assert matches(TEMPLATES, r"\|\s*safe\b|autoescape false") == []
    sizes = {short(p): p.read_text(encoding="utf-8").count("\n") for p in TEMPLATES}
    assert {name: n for name, n in sizes.items() if n > TEMPLATE_LINES} == {}


def test_templates_have_no_inline_styles_scripts_or_handlers() -> None:
    # The content security policy would refuse them, and nobody would be told.
    inline = r"<style|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|<script(?![^>]*\bsrc=)"
    assert matches(TEMPLATES, inline) == []
