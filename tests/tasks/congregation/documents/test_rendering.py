"""Drawing a page: hostile files, hanging tools, and pictures that are none."""

from __future__ import annotations

import os
import struct
import time
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tasks.congregation.documents.rendering import child
from tasks.congregation.documents.rendering.pictures import (
    BYTES_MAX,
    SIDE,
    Picture,
    read_png,
)
from tasks.congregation.documents.rendering.renderer import (
    PDFIUM,
    ChildRenderer,
    Refused,
    find_renderer,
)
from tasks.congregation.documents.sentences import SENTENCES
from tasks.models import ThumbnailReason
from tests.support import pdfs

R = ThumbnailReason
GOOD = child.png(2, 3, b"\xff" * 18, 6)
Draw = Callable[[bytes], Picture | Refused]


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    def act(content: bytes) -> Picture | Refused:
        path = tmp_path / "file"
        path.write_bytes(content)
        # Processor time and memory end it; a busy machine's clock must not.
        return ChildRenderer(PDFIUM, timedelta(seconds=100)).render(path)

    return act


@pytest.fixture
def tool(tmp_path: Path) -> Callable[..., Picture | Refused]:
    """Return a function that draws with a "pdftoppm" of these lines of shell."""

    def act(script: str, patience: float = 20) -> Picture | Refused:
        path = tmp_path / "pdftoppm"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        (tmp_path / "good.png").write_bytes(GOOD)
        pdf = tmp_path / "file.pdf"
        pdf.write_bytes(pdfs.pdf())
        return ChildRenderer(str(path), timedelta(seconds=patience)).render(pdf)

    return act


def test_the_longer_side_has_three_hundred_pixels(draw: Draw) -> None:
    for box, size in (
        ("[0 0 200 283]", (212, 300)),
        ("[0 0 14400 14400]", (300, 300)),
        ("[0 0 14400 1]", (300, 1)),
    ):
        got = draw(pdfs.pdf(box=box))
        assert isinstance(got, Picture)
        assert (got.width, got.height) == size


def test_what_is_drawn_is_the_page(draw: Draw) -> None:
    got = draw(pdfs.pdf(content="1 0 0 rg 0 0 200 283 re f"))
    assert isinstance(got, Picture)
    start = got.data.index(b"IDAT")
    (length,) = struct.unpack(">I", got.data[start - 4 : start])
    lines = zlib.decompress(got.data[start + 4 : start + 4 + length])
    middle = (got.height // 2) * (1 + 3 * got.width) + 1 + 3 * (got.width // 2)
    assert lines[middle : middle + 3] == b"\xff\x00\x00"


def test_files_that_cannot_be_drawn_have_a_reason_that_no_retry_changes(
    draw: Draw,
) -> None:
    for content, reason in (
        (b"", R.BROKEN),
        (b"<html>%PDF-", R.BROKEN),
        (pdfs.pdf()[:120], R.BROKEN),
        (pdfs.pdf(kids="[2 0 R]"), R.BROKEN),
        (pdfs.no_pages(), R.BROKEN),
        (pdfs.encrypted(), R.PASSWORD),
        (pdfs.endless(), R.TOO_COMPLEX),
    ):
        got = draw(content)
        assert got == Refused(reason)
        assert got.is_permanent


def test_popplers_complaints_become_reasons(
    tool: Callable[..., Picture | Refused],
) -> None:
    for script, reason in (
        ("echo 'Command Line Error: Incorrect password' >&2; exit 1", R.PASSWORD),
        ("echo 'Wrong page range given: the first page' >&2; exit 99", R.NO_PAGES),
        ("echo 'Syntax Error: Couldn''t read xref table' >&2; exit 1", R.BROKEN),
        ("kill -s ABRT $$", R.TOO_COMPLEX),
        ("kill -s KILL $$", R.TOOL_FAILED),
        ("exit 0", R.BROKEN),
        ("head -c 90 /dev/zero", R.BROKEN),
        ("exec head -c 9000000 /dev/zero", R.TOO_COMPLEX),
    ):
        assert tool(script) == Refused(reason), script


def test_the_tool_is_asked_for_one_page_and_knows_no_secrets(
    tool: Callable[..., Picture | Refused],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_KEY", "bell")
    # The limits let it write no more than a picture, but do let it write.
    got = tool(
        f"env >{tmp_path}/env; echo $@ >{tmp_path}/asked; cat {tmp_path}/good.png"
    )
    assert got == Picture(GOOD, 2, 3)
    assert "bell" not in (tmp_path / "env").read_text()
    asked = (tmp_path / "asked").read_text().split()
    assert " ".join(asked[:-1]) == "-png -singlefile -f 1 -l 1 -scale-to 300"
    assert asked[-1] == str(tmp_path / "file.pdf")


def test_a_tool_that_hangs_is_killed_with_all_it_started(
    tool: Callable[..., Picture | Refused], tmp_path: Path
) -> None:
    got = tool(f"sleep 300 & echo $! >{tmp_path}/pid; wait", patience=1)
    assert got == Refused(R.TIMED_OUT)
    assert not got.is_permanent
    pid = int((tmp_path / "pid").read_text())
    for _ in range(500):
        if not _runs(pid):
            return
        time.sleep(0.01)
    pytest.fail("what the tool had started still runs")


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")  # noqa: PTH110  # its own words


def test_without_a_tool_the_reason_may_pass(tmp_path: Path) -> None:
    got = ChildRenderer().render(tmp_path / "x.pdf")
    assert got == Refused(R.TOOL_MISSING)
    assert not got.is_permanent


def test_a_tool_that_cannot_be_started_is_not_the_files_fault(tmp_path: Path) -> None:
    (tmp_path / "x.pdf").touch()
    got = ChildRenderer(str(tmp_path / "none")).render(tmp_path / "x.pdf")
    assert got == Refused(R.TOOL_FAILED)


def test_poppler_is_taken_before_pdfium(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_renderer().tool == PDFIUM
    path = tmp_path / "pdftoppm"
    path.touch(mode=0o700)
    assert find_renderer().tool == str(path)


def test_only_whole_and_small_pictures_count() -> None:
    assert read_png(GOOD) == Picture(GOOD, 2, 3)
    other = GOOD[:-20] + bytes([GOOD[-20] ^ 1]) + GOOD[-19:]
    large = child.png(SIDE + 1, 1, b"\xff" * 903, 903)
    padded = GOOD[:33] + b"\0" * BYTES_MAX + GOOD[33:]
    for data in (b"", GOOD[:50], GOOD[:-1], b"GIF" + GOOD, other, large, padded):
        assert read_png(data) is None


def test_every_reason_has_its_sentence() -> None:
    assert set(SENTENCES) == set(R)
    assert child.SIDE == SIDE
