"""The files for deployment name commands and settings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboard.cli import COMMANDS
from dashboard.uploads import BESIDE, PATIENCE
from tasks.config import Config

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_the_command_it_is_named_for(unit: Path) -> None:
    command = unit.stem.removeprefix("carillon-")
    assert command in COMMANDS
    assert f"/bin/carillon {command}\n" in unit.read_text(encoding="utf-8")


def test_containers_run_commands_that_exist() -> None:
    compose = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    docker = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    commands = re.findall(r"command: \[([a-z]+)\]", compose)
    assert commands == ["migrate", "web", "worker"]
    assert set(re.findall(r'CMD \["(.*)"\]', docker)) <= set(COMMANDS)


def test_containers_set_settings_that_exist() -> None:
    docs = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| `([A-Z_]+)`", docs, re.MULTILINE))
    compose = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    given = set(re.findall(r"^    ([A-Z][A-Z_]+):", compose, re.MULTILINE))
    assert given
    assert given <= known


def test_the_image_gets_every_folder_that_the_code_needs() -> None:
    docker = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    let_in = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for name in ("tasks", "dashboard", "templates", "static", "wsgi.py"):
        assert re.search(rf"^COPY .*\b{re.escape(name)}\b", docker, re.MULTILINE)
        assert f"!{name}" in let_in


def test_the_proxy_lets_the_largest_upload_through(tmp_path: Path) -> None:
    docs = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    (megabytes,) = re.findall(r"client_max_body_size (\d+)m;", docs)
    config = Config.from_environ({"VAR_DIR": str(tmp_path)})
    with_a_form = config.archive_limit * PATIENCE + BESIDE
    assert int(megabytes) * 1024 * 1024 > with_a_form


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_of_the_docs_points_to_what_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\[[^]]*\]\(([^)#:]*)\)", text):
        assert (page.parent / target).exists(), f"it points to {target}"
    for named in re.findall(
        r"`((?:tasks|dashboard|tests|templates|docs)/[^`<*]+)`", text
    ):
        assert (ROOT / named.split(":")[0]).exists(), f"it names {named}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_heading_that_is_pointed_to_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
        there = page.parent / target if target else page
        assert heading in _headings(there), f"it points to {target}#{heading}"


def _headings(page: Path) -> set[str]:
    """Return the headings of a page as links name them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")
        for title in titles
    }


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-demo.lock"])
def test_what_users_get_is_what_is_tested(name: str) -> None:
    tested, given = _pins("requirements-dev.lock"), _pins(name)
    assert given
    assert {
        each: pin for each, pin in given.items() if tested.get(each, pin) != pin
    } == {}


def _pins(name: str) -> dict[str, str]:
    """Return each package of a lock with its version."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))
