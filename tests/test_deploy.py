"""The files for deployment name commands and settings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboard.cli import COMMANDS

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
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


def test_the_readme_points_to_files_that_exist() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"(?<!!)\[[^]]*\]\(([^)#:]+)\)", text):
            assert (ROOT / target).exists(), f"{name} points to {target}"


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
