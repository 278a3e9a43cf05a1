"""Both storages do the same: a file is whole or not there, and keys stay inside."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest

from tasks.storage import (
    FileMissing,
    FileTooLarge,
    NoStorage,
    Storage,
    StorageFailed,
    key_of,
)
from tasks.storage.local import LocalStorage
from tasks.storage.s3 import Bucket, S3Storage
from tests.support.s3 import s3_server

CONGREGATION = UUID(int=7)
KEY = key_of(CONGREGATION, "board", "a.pdf")


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


@contextmanager
def bucket() -> Iterator[S3Storage]:
    with s3_server() as server:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        storage = S3Storage(Bucket("bucket", "carillon", endpoint, "eu-1"))
        yield storage
        storage.close()


@pytest.fixture(params=["folder", "bucket"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    if request.param == "folder":
        yield LocalStorage(tmp_path / "files")
        return
    with bucket() as made:
        yield made


def put(storage: Storage, key: str, content: bytes, limit: int = 100) -> None:
    storage.put(key, io.BytesIO(content), limit=limit)


def test_what_was_put_can_be_read_measured_and_removed(storage: Storage) -> None:
    stored = storage.put(KEY, io.BytesIO(b"first"), limit=5)
    assert (stored.size, stored.sha256.hex()[:8]) == (5, "a7937b64")
    put(storage, KEY, b"second")
    with storage.open(KEY) as stream:
        assert stream.read() == b"second"
    with storage.at_hand(KEY) as path:
        assert path.read_bytes() == b"second"
    assert storage.size(KEY) == 6
    storage.delete(KEY)
    storage.delete(KEY)
    assert storage.size(KEY) is None
    with pytest.raises(FileMissing), storage.open(KEY):
        pass
    with pytest.raises(FileMissing), storage.at_hand(KEY):
        pass


def test_of_a_file_that_is_too_large_nothing_is_kept(storage: Storage) -> None:
    put(storage, KEY, b"before")
    with pytest.raises(FileTooLarge, match="larger than 3 bytes"):
        put(storage, KEY, b"four", limit=3)
    with storage.open(KEY) as stream:
        assert stream.read() == b"before"
    assert list(storage.keys("")) == [KEY]


def test_keys_come_in_order_and_in_pages(storage: Storage) -> None:
    keys = [key_of(CONGREGATION, "board", f"{n}.pdf") for n in range(5)]
    other = key_of(UUID(int=8), "board", "9.pdf")
    for key in (*keys[::-1], other):
        put(storage, key, b"x")
    prefix = f"{CONGREGATION}/board/"
    first = storage.keys(prefix, limit=2)
    assert list(first) == keys[:2]
    assert list(storage.keys(prefix, after=first[-1], limit=2)) == keys[2:4]
    assert list(storage.keys(prefix, after=keys[-1])) == []
    assert list(storage.keys("")) == [*keys, other]


def test_no_key_leaves_its_place(storage: Storage) -> None:
    for key in (
        "../a",
        "/a",
        "a//b",
        "a/../b",
        ".hidden",
        "-r",
        "a/B",
        "é",
        "",
        "a" * 201,
    ):
        with pytest.raises(ValueError, match="not a key"):
            put(storage, key, b"x")
        with pytest.raises(ValueError, match="not a key"):
            storage.delete(key)
    with pytest.raises(ValueError, match="not a prefix"):
        storage.keys("a")
    with pytest.raises(ValueError, match="not a key"):
        storage.keys("../")


def test_a_check_leaves_nothing_behind(storage: Storage) -> None:
    storage.check()
    assert list(storage.keys("")) == []


def test_what_a_dead_process_had_begun_to_write_is_removed_after_a_day(
    tmp_path: Path,
) -> None:
    folder = LocalStorage(tmp_path / "files")
    folder.tidy()
    put(folder, KEY, b"x")
    old, new = (tmp_path / "files" / ".arriving" / name for name in ("a", "b"))
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    folder.tidy()
    assert not old.exists()
    assert new.exists()
    with s3_server() as server:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        storage = S3Storage(Bucket("bucket", "", endpoint, "eu-1"))
        server.uploads.update(
            {"old": "2020-01-01T00:00:00Z", "new": "2999-01-01T00:00:00Z"}
        )
        storage.tidy()
        assert list(server.uploads) == ["new"]
        storage.close()


def test_a_bucket_that_refuses_is_a_failure_with_its_word() -> None:
    with s3_server() as server:
        server.refuses = True
        endpoint = f"http://127.0.0.1:{server.server_port}"
        storage = S3Storage(Bucket("bucket", "", endpoint, "eu-1"))
        for deed in (lambda: put(storage, KEY, b"x"), storage.check):
            with pytest.raises(StorageFailed, match="AccessDenied"):
                deed()
        storage.close()


def test_a_folder_that_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "files").touch()
    with pytest.raises(StorageFailed, match="cannot be used"):
        put(LocalStorage(tmp_path / "files"), KEY, b"x")


def test_who_empties_a_folder_keeps_no_file_from_getting_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, move, emptied = LocalStorage(tmp_path / "files"), Path.replace, []

    def after_another(coming: Path, target: Path) -> Path:
        if not emptied:  # somebody removes the last other file at this moment
            target.parent.rmdir()
            emptied.append(target.parent)
        return move(coming, target)

    monkeypatch.setattr(Path, "replace", after_another)
    put(storage, KEY, b"x")
    assert emptied
    assert storage.size(KEY) == 1


def test_a_file_that_cannot_be_read_is_missing_or_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path / "files")
    put(storage, KEY, b"x")

    def refused(*_told: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    for look in (storage.open, storage.at_hand):
        with pytest.raises(StorageFailed, match="denied"), look(KEY):
            pass
    monkeypatch.undo()
    with pytest.raises(FileMissing), storage.open(KEY[: -len("/a.pdf")]):
        pass


def test_files_of_the_folder_are_for_nobody_else(tmp_path: Path) -> None:
    put(LocalStorage(tmp_path / "files"), KEY, b"x")
    assert (tmp_path / "files" / KEY).parent.stat().st_mode & 0o077 == 0


def test_a_sweep_without_storage_says_so() -> None:
    with pytest.raises(StorageFailed, match="no storage"):
        NoStorage().size(KEY)


def test_a_file_and_the_folders_it_came_with_outlive_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[str] = []
    usual = os.fsync

    def force(handle: int) -> None:
        forced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        usual(handle)

    monkeypatch.setattr(os, "fsync", force)
    put(LocalStorage(tmp_path / "files"), KEY, b"new")
    path = tmp_path / "files" / KEY
    folders = [path.parent, path.parent.parent, tmp_path / "files", tmp_path]
    assert forced[1:] == [str(each) for each in folders]
