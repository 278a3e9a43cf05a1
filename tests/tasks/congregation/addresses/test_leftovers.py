"""What a worker that died has staged does not fill its machine for ever."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from tasks.congregation.addresses.leftovers import working_folder

DAY = 24 * 60 * 60


def test_a_dead_workers_folder_goes_with_the_next_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, young, other = (
        tmp_path / name for name in ("carillon-sync-a", "carillon-sync-b", "others")
    )
    for folder in (old, young, other):
        folder.mkdir()
        (folder / "stage.db").write_text("addresses")
    long_ago = time.time() - DAY - 60
    for folder in (old, other):
        os.utime(folder, (long_ago, long_ago))

    with working_folder() as mine:
        (mine / "stage.db").write_text("addresses")
        assert {each.name for each in tmp_path.iterdir()} == {
            *(young.name, other.name, mine.name)
        }

    assert not mine.exists()


def test_a_link_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = tmp_path / "kept"
    kept.mkdir()
    link = tmp_path / "carillon-sync-c"
    link.symlink_to(kept, target_is_directory=True)
    os.utime(link, (1, 1), follow_symlinks=False)

    with working_folder():
        pass

    assert kept.exists()
