"""What is said of an archive's rows, and that nothing is written where one is wrong."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from tasks.congregation.transfer import report as reports
from tasks.congregation.transfer import starting
from tasks.errors import Conflict
from tasks.models import Member, Territory
from tasks.models.long_job import LongJobState
from tests.support import archives, factories
from tests.support import transfer_rows as rows
from tests.support.transfer_rows import Begin
from tests.tasks.congregation.transfer.conftest import ADA, GROUP, archive_of

CAMPAIGN = {
    "id": "c",
    "name": "Spring",
    "starts_on": "2026-03-01",
    "ends_on": "2026-03-09",
}
ADDRESS = {
    "id": "1",
    "key": "54395 rue haute 1",
    "number": "1",
    "street": "Rue Haute",
    "insee": "54395",
}
AREA = {"postcodes": ["54000"]}
#: Rows that are wrong: what is in the archive, and (file, line, field, sentence).
WRONG: dict[str, tuple[dict[str, list[Any]], tuple[str, int, str, str]]] = {
    "not known": (
        {"groups": [GROUP]},
        ("groups.ndjson", 1, "responsible_id", "“members” that the archive does not"),
    ),
    "missing": (
        {"members": [ADA, {"id": "2", "first_name": "Bo"}]},
        ("members.ndjson", 2, "last_name", "is missing"),
    ),
    "no id": (
        {"members": [{"first_name": "Bo", "last_name": "X"}]},
        ("members.ndjson", 1, "id", "is missing"),
    ),
    "too long": (
        {"members": [ADA | {"first_name": "x" * 121}]},
        ("members.ndjson", 1, "first_name", "longer than 120"),
    ),
    "NUL": (
        {"members": [ADA | {"notes": "a\0b"}]},
        ("members.ndjson", 1, "notes", "cannot be kept"),
    ),
    "control character": (
        {"members": [ADA | {"phone": "1\x1b2"}]},
        ("members.ndjson", 1, "phone", "control character"),
    ),
    "no number of JSON": (
        {"address-areas": [AREA | {"version": float("inf")}]},
        ("address-areas.ndjson", 1, "", "no JSON object"),
    ),
    "no texts": (
        {"address-areas": [AREA | {"urls": [1]}]},
        ("address-areas.ndjson", 1, "urls", "list of short texts"),
    ),
    "no perimeter": (
        {"address-areas": [AREA | {"perimeter": {"type": "Point"}}]},
        ("address-areas.ndjson", 1, "perimeter", "is no perimeter"),
    ),
    "half a place": (
        {"addresses": [ADDRESS | {"lat": 1.5}]},
        ("addresses.ndjson", 1, "lat", "without “lon”"),
    ),
    "no place": (
        {"addresses": [ADDRESS | {"lat": 91, "lon": 1}]},
        ("addresses.ndjson", 1, "lat", "no place on earth"),
    ),
    "no time zone": (
        {"accounts": [{"id": "a", "email": "a@b.example", "timezone": "../x"}]},
        ("accounts.ndjson", 1, "timezone", "no time zone"),
    ),
    "no language": (
        {"accounts": [{"id": "a", "email": "a@b.example", "locale": "xx"}]},
        ("accounts.ndjson", 1, "locale", "none of these: en, fr"),
    ),
    "half a pair": (
        {"members": [ADA | {"notes": "\ud800"}]},
        ("members.ndjson", 1, "notes", "cannot be kept"),
    ),
    "word": (
        {"members": [ADA | {"gender": "other"}]},
        ("members.ndjson", 1, "gender", "none of these: female, male"),
    ),
    "flag": (
        {"members": [ADA | {"is_elder": 1}]},
        ("members.ndjson", 1, "is_elder", "neither true nor false"),
    ),
    "day": (
        {"members": [ADA | {"left_on": "31.2.2026"}]},
        ("members.ndjson", 1, "left_on", "not a day"),
    ),
    "a day to which none can be added": (
        {"campaigns": [CAMPAIGN | {"ends_on": "9999-12-31"}]},
        ("campaigns.ndjson", 1, "ends_on", "between 1900 and 2999"),
    ),
    "a day long ago": (
        {"members": [ADA | {"birth_date": "0198-05-01"}]},
        ("members.ndjson", 1, "birth_date", "between 1900 and 2999"),
    ),
    "an endless rest": (
        {"campaigns": [CAMPAIGN | {"rest_days": 2_000_000_000}]},
        ("campaigns.ndjson", 1, "rest_days", "is not from 0 to 366"),
    ),
    "instant": (
        {"members": [ADA | {"created_at": "2026-03-01T10:00:00"}]},
        ("members.ndjson", 1, "created_at", "not an instant"),
    ),
    "first instant": (
        {"members": [ADA | {"created_at": "0001-01-01T00:00:00Z"}]},
        ("members.ndjson", 1, "created_at", "between 1970 and 2200"),
    ),
    "last instant": (
        {"members": [ADA | {"created_at": "9999-12-31T23:59:59Z"}]},
        ("members.ndjson", 1, "created_at", "between 1970 and 2200"),
    ),
    "endless number": (
        {"addresses": [ADDRESS | {"lat": 10**400, "lon": 1}]},
        ("addresses.ndjson", 1, "lat", "not a number"),
    ),
    "number": (
        {"members": [ADA | {"version": 1 << 31}]},
        ("members.ndjson", 1, "version", "too large"),
    ),
    "address": (
        {"accounts": [{"id": "a", "email": "nobody"}]},
        ("accounts.ndjson", 1, "email", "no e-mail address"),
    ),
    "id twice": (
        {"members": [ADA, ADA]},
        ("members.ndjson", 2, "id", "line 1 already"),
    ),
    "equal": (
        {"territories": [{"id": "1", "number": "7"}, {"id": "2", "number": "7"}]},
        ("territories.ndjson", 2, "number", "line 1 already"),
    ),
    "two responsible": (
        {"members": [ADA], "groups": [GROUP, GROUP | {"id": "h", "name": "South"}]},
        ("groups.ndjson", 2, "responsible_id", "line 1 already"),
    ),
    "order": (
        {
            "campaigns": [
                {
                    "id": "c",
                    "name": "Spring",
                    "starts_on": "2026-03-02",
                    "ends_on": "2026-03-01",
                }
            ]
        },
        ("campaigns.ndjson", 1, "ends_on", "is before “starts_on”"),
    ),
    "shared days": (
        {"campaigns": [CAMPAIGN, CAMPAIGN | {"id": "d", "starts_on": "2026-03-09"}]},
        ("campaigns.ndjson", 2, "starts_on", "shares a day with line 1"),
    ),
    "two under way": (
        {
            "campaigns": [
                CAMPAIGN | {"activated_at": "2026-03-01T10:00:00Z"},
                CAMPAIGN
                | {
                    "id": "d",
                    "starts_on": "2026-04-01",
                    "ends_on": "2026-04-02",
                    "activated_at": "2026-03-01T10:00:00Z",
                },
            ]
        },
        ("campaigns.ndjson", 2, "", "line 1 already"),
    ),
    "no object": ({"members": [[1]]}, ("members.ndjson", 1, "", "no JSON object")),
    "two perimeters": (
        {"address-areas": [{}, {}]},
        ("address-areas.ndjson", 2, "", "a second row"),
    ),
    "no file": (
        {"stored-files": [{"id": "f", "sha256": "0" * 64, "size": 1}]},
        ("stored-files.ndjson", 1, "", "no file in the archive"),
    ),
}


def test_every_problem_is_named_by_file_line_and_field(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    for name, (entities, (file, line, field, words)) in WRONG.items():
        checked = rows.check(at, of, archive_of(tmp_path, entities))
        found = checked.report["problems"]
        assert [(p["file"], p["line"], p["field"]) for p in found] == [
            (file, line, field)
        ], name
        assert words in found[0]["sentence"], (name, found)
        with sqlite_begin() as session, pytest.raises(Conflict, match="problems"):
            starting.confirm(session, checked.id, rows.ANNA, 0, factories.NOW)
    with sqlite_begin() as session:
        assert session.scalar(select(func.count()).select_from(Member)) == 0
        assert session.scalar(select(func.count()).select_from(Territory)) == 0


def test_values_that_no_database_takes_are_found_before_it_is_asked(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    deep = b"[" * 400 + b"]" * 400
    lines = [
        archives.lines([AREA | {"perimeter": 0}]).replace(b": 0", b": 1e999"),
        archives.lines([AREA | {"perimeter": 0}]).replace(b"0}", deep + b"}"),
        archives.lines([AREA | {"version": 0}]).replace(b"0}", b"9" * 5_000 + b"}"),
    ]
    for line in lines:
        data = {"data/address-areas.ndjson": line}
        told = archives.as_json(archives.manifest(data))
        path = archives.write_raw(tmp_path / "a", {"manifest.json": told, **data})
        checked = rows.check(at, of, path.read_bytes())
        assert checked.report["n_problems"] == 1, (checked.error, checked.report)


def test_large_rows_and_made_up_fields_go_by_in_bounded_memory(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    """Rows of a megabyte, each with thousands of fields that nobody knows."""
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    many = [
        ADA | {"id": str(n)} | {f"f{n}-{k}": "x" * 50 for k in range(3_000)}
        for n in range(100)
    ]
    archive = archive_of(tmp_path, {"members": many})
    del many
    tracemalloc.start()
    checked = rows.check(at, of, archive)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert checked.report["counts"]["members"]["new"] == 100
    assert len(checked.report["warnings"]) < 30
    assert peak < 32_000_000, peak  # all rows at once would take 100 MB


def test_all_problems_are_counted_and_some_are_listed(
    sqlite_begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "PROBLEMS_SHOWN", 3)
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    bad = [{"id": str(n), "first_name": 1, "last_name": "x"} for n in range(10)]
    # Who points to a wrong row is not blamed as well.
    contacts = [{"id": "e", "member_id": "3", "name": "Cleo"}]
    entities = {"members": bad, "emergency-contacts": contacts}
    counts = {"members": 11, "emergency-contacts": 1}
    checked = rows.check(at, of, archive_of(tmp_path, entities, entityCounts=counts))
    assert len(checked.report["problems"]) == 3
    assert checked.report["n_problems"] == 11  # with the number of rows
    assert "Ada" not in str(checked.report)


def test_a_refused_archive_fails_its_check_and_is_not_kept(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    checked = rows.check(at, of, b"no archive")
    assert (checked.state, checked.error_code) == (
        LongJobState.FAILED,
        "archive_not_zip",
    )
    assert checked.file_key is None
