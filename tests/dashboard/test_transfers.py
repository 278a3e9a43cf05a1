"""The pages of exports and imports, from the form to the report."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from dashboard.operators.models import RoleName
from tasks.clock import utcnow
from tasks.config import Config
from tasks.congregation.transfer import starting
from tasks.db import sessions
from tasks.lane import Bench
from tasks.lanes import data_transfer
from tasks.models import AuditEntry, Congregation, Member, Transfer
from tests.dashboard.conftest import Browser
from tests.support import archives
from tests.support import transfer_rows as rows

_ADA = {"id": "1", "first_name": "Ada", "last_name": "Lamp"}


@pytest.fixture
def lane(sqlite_engine: Engine, config: Config) -> Bench:
    """Return what the lane works with, on the console's storage."""
    return rows.bench(sessions(sqlite_engine).begin, config.var_dir / "files", utcnow)


def _upload(
    browser: Browser, of: Congregation, content: bytes, **values: Any
) -> TestResponse:
    file = (io.BytesIO(content), "old.carillon")
    data = {"congregation_id": str(of.id), "file": file} | values
    return browser.post("/transfers/import", data=data)


def _text(answer: TestResponse) -> str:
    return answer.get_data(as_text=True)


def test_an_export_is_asked_for_watched_and_fetched(
    as_operator: Browser, congregation: Congregation, lane: Bench, sqlite_engine: Engine
) -> None:
    assert "Nothing was exported" in _text(as_operator.get("/transfers/"))
    form = _text(as_operator.get("/transfers/export"))
    assert re.search(r'<input[^>]* checked [^>]*name="files"', form), form
    answer = as_operator.post(
        "/transfers/export", data={"congregation_id": str(congregation.id)}
    )
    page = _text(as_operator.get(answer.location))
    assert "Why is it waiting?" in page
    assert 'hx-trigger="every 2s"' in page
    twice = as_operator.post(
        "/transfers/export", data={"congregation_id": str(congregation.id)}
    )
    assert (twice.status_code, "under way" in _text(twice)) == (422, True)
    assert data_transfer.sweep(lane, 1).done
    page = _text(as_operator.get(answer.location))
    assert "Download" in page
    assert "hx-trigger" not in page
    fetched = as_operator.post(f"{answer.location}/download")
    assert "st-mary-" in fetched.headers["Content-Disposition"]
    with ZipFile(io.BytesIO(fetched.get_data())) as file:
        assert "manifest.json" in file.namelist()
    as_operator.post(f"{answer.location}/remove")
    page = _text(as_operator.get(answer.location))
    assert "Expired" in page
    assert "export again" in page
    again = as_operator.post(f"{answer.location}/download")
    assert again.status_code == 303
    with Session(sqlite_engine) as session:
        found = session.scalars(select(AuditEntry.action)).all()
    assert found.count("transfer.downloaded") == 1


def test_an_archive_is_checked_confirmed_with_its_number_and_taken_over(
    as_operator: Browser,
    congregation: Congregation,
    lane: Bench,
    sqlite_engine: Engine,
    tmp_path: Path,
) -> None:
    entities = {"members": [_ADA, _ADA | {"id": "2", "first_name": "Bo"}]}
    archive = archives.write(tmp_path / "a", entities).read_bytes()
    checked = _upload(as_operator, congregation, archive)
    assert checked.status_code == 303, _text(checked)
    data_transfer.sweep(lane, 1)
    page = _text(as_operator.get(checked.location))
    assert "Import 2 rows" in page
    assert "What would come in" in page
    for odd in ("x", "1" * 5_000):
        wrong = as_operator.post(f"{checked.location}/import", data={"n_rows": odd})
        assert wrong.location == checked.location
        assert "another one by now" in _text(as_operator.get(checked.location))
    answer = as_operator.post(f"{checked.location}/import", data={"n_rows": "2"})
    data_transfer.sweep(lane, 1)
    page = _text(as_operator.get(answer.location))
    assert "What came in" in page
    page = _text(as_operator.get(checked.location))
    assert "To the import" in page
    assert answer.location in page
    with Session(sqlite_engine) as session:
        assert len(session.scalars(select(Member)).all()) == 2
    listed = _text(as_operator.get("/transfers/"))
    assert listed.count("old.carillon") == 2


def test_problems_are_listed_and_leave_nothing_to_confirm(
    as_operator: Browser, congregation: Congregation, lane: Bench, tmp_path: Path
) -> None:
    broken = {"members": [{"id": "1", "first_name": "<b>"}]}
    archive = archives.write(tmp_path / "a", broken).read_bytes()
    checked = _upload(as_operator, congregation, archive)
    data_transfer.sweep(lane, 1)
    page = _text(as_operator.get(checked.location))
    for words in (
        "Has problems",
        "1 problem",
        "members.ndjson",
        "last_name",
        "is missing",
    ):
        assert words in page
    assert 'id="confirm"' not in page
    refused = _upload(as_operator, congregation, b"no archive")
    data_transfer.sweep(lane, 1)
    assert "no ZIP archive" in _text(as_operator.get(refused.location))


def test_what_is_wrong_with_a_form_is_said_beside_its_field(
    as_operator: Browser, congregation: Congregation, app: Any
) -> None:
    answer = as_operator.post(
        "/transfers/import", data={"congregation_id": str(congregation.id)}
    )
    assert (answer.status_code, "Choose a file" in _text(answer)) == (422, True)
    answer = _upload(as_operator, congregation, b"x", congregation_id="none")
    assert (answer.status_code, "Choose a congregation" in _text(answer)) == (422, True)
    answer = _upload(as_operator, congregation, b"")
    assert (answer.status_code, "is empty" in _text(answer)) == (422, True)
    answer = as_operator.post("/transfers/export", data={"congregation_id": "x"})
    assert answer.status_code == 422


def test_a_transfer_is_cancelled_before_its_end(
    as_operator: Browser, congregation: Congregation, lane: Bench
) -> None:
    answer = as_operator.post(
        "/transfers/export", data={"congregation_id": str(congregation.id)}
    )
    as_operator.post(f"{answer.location}/cancel")
    assert "Cancelled" in _text(as_operator.get(answer.location))
    as_operator.post(f"{answer.location}/cancel")
    assert "come to its end" in _text(as_operator.get(answer.location))


def test_who_may_only_look_can_neither_export_import_nor_fetch(
    as_viewer: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        id_ = starting.start_export(
            session, congregation.id, rows.ANNA, files=False, audit=False, now=utcnow()
        ).id
    assert as_viewer.get(f"/transfers/{id_}").status_code == 200
    assert as_viewer.get("/transfers/export").status_code == 403
    assert as_viewer.get("/transfers/import").status_code == 403
    for verb in ("download", "cancel", "remove", "import"):
        assert as_viewer.post(f"/transfers/{id_}/{verb}").status_code == 403, verb


def test_a_transfer_of_a_congregation_of_others_is_not_there(
    log_in: Callable[..., Browser], congregation: Congregation, sqlite_engine: Engine
) -> None:
    other = Congregation(slug="other", name="Other")
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        session.add(other)
        session.flush()
        id_ = starting.start_export(
            session, congregation.id, rows.ANNA, files=False, audit=False, now=utcnow()
        ).id
    browser = log_in(RoleName.OPERATOR, sees_all=False, congregations=[other.id])
    assert browser.get(f"/transfers/{id_}").status_code == 404
    for verb in ("download", "cancel", "remove", "import"):
        assert browser.post(f"/transfers/{id_}/{verb}").status_code == 404, verb
    answer = _upload(browser, congregation, b"PK")
    assert (answer.status_code, "Choose a congregation" in _text(answer)) == (422, True)
    with Session(sqlite_engine) as session:
        assert len(session.scalars(select(Transfer.id)).all()) == 1
