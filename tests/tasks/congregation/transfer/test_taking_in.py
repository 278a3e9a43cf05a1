"""What is said of an archive's rows, and that nothing is written where one is wrong."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.congregation.retention.erasing import erase
from tasks.congregation.transfer import report as reports
from tasks.congregation.transfer import starting
from tasks.errors import Conflict
from tasks.models import (
    Account,
    Congregation,
    Duty,
    Erasure,
    ExternalRef,
    Member,
    Territory,
)
from tasks.models.document import Document, StoredFile
from tasks.models.long_job import LongJobState
from tests.support import archives, factories
from tests.support import transfer_rows as rows
from tests.support.transfer_rows import Begin

ADA = {"id": "1", "first_name": "Ada", "last_name": "Lamp"}
GROUP = {"id": "g", "name": "North", "responsible_id": "1"}
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
SECTION = {"id": "s", "name": "Rosters"}


def _archive(
    tmp_path: Path,
    entities: dict[str, list[dict[str, Any]]],
    *files: bytes,
    **said: Any,
) -> bytes:
    path = archives.write(tmp_path / "made.carillon", entities, files, **said)
    return path.read_bytes()


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
    "instant": (
        {"members": [ADA | {"created_at": "2026-03-01T10:00:00"}]},
        ("members.ndjson", 1, "created_at", "not an instant"),
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
        checked = rows.check(at, of, _archive(tmp_path, entities))
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
    archive = _archive(tmp_path, {"members": many})
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
    checked = rows.check(at, of, _archive(tmp_path, entities, entityCounts=counts))
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


def test_rows_of_another_congregation_are_never_taken(
    begin: Begin, tmp_path: Path
) -> None:
    """Neither by their ids, nor by the addresses and numbers that they have there."""
    with begin() as session:
        mine = factories.congregation(session, "mine")
        theirs = factories.congregation(session, "theirs")
        account = Account(congregation_id=theirs, email="x@example.org", name="Theirs")
        session.add(account)
        session.flush()
        stolen, session_id = str(account.id), str(theirs)
    at = rows.bench(begin, tmp_path / "files")
    entities = {"accounts": [{"id": stolen, "email": "X@example.org", "name": "Mine"}]}
    said = archives.manifest({}) | {}
    source = said["source"] | {"congregation": session_id}
    archive = _archive(tmp_path, entities, source=source)
    assert rows.take_over(at, mine, archive).report["counts"]["accounts"]["new"] == 1
    with begin() as session:
        found = session.scalars(select(Account).order_by(Account.name)).all()
        assert [(row.name, row.congregation_id) for row in found] == [
            ("Mine", mine),
            ("Theirs", theirs),
        ]
        # Nor does what an archive became there count here.
        ref = ExternalRef(
            congregation_id=theirs,
            source=archives.SOURCE,
            entity="members",
            external_id="1",
            row_id=found[1].id,
        )
        session.add(ref)
    taken = rows.take_over(at, mine, _archive(tmp_path, {"members": [ADA]}))
    assert taken.report["counts"]["members"]["new"] == 1


def test_what_is_here_by_its_number_or_address_is_updated_and_said(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
        session.add(Territory(congregation_id=of, number="7", name="Old"))
        session.add(Duty(congregation_id=of, key="k", name="Same"))
        session.add(
            Member(
                congregation_id=of,
                first_name="Ada",
                last_name="Lamp",
                search_name="lamp ada",
            )
        )
    at = rows.bench(sqlite_begin, tmp_path / "files")
    entities = {
        "members": [ADA],
        "territories": [{"id": "7", "number": "7", "name": "New"}],
        "duties": [{"id": "d", "key": "k", "name": "Same"}],
    }
    checked = rows.check(at, of, _archive(tmp_path, entities))
    assert checked.report["conflicts"] == {"territories": {"n": 1, "lines": [1]}}
    assert "beside them (line 1)" in " ".join(checked.report["warnings"])
    done = rows.run(at, rows.confirm(at, checked))
    assert done.report["counts"]["territories"]["updated"] == 1
    with sqlite_begin() as session:
        territory = session.scalars(select(Territory)).one()
        assert (territory.name, territory.version) == ("New", 2)
        assert session.scalar(select(func.count()).select_from(Member)) == 2
        refs = set(session.scalars(select(ExternalRef.entity)))
    assert refs == {"members", "territories", "duties"}


def test_what_is_not_known_is_left_out_and_said(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    entities = {
        "members": [ADA | {"password": "x", "congregation_id": "y"}],
        "spells": [{"id": "1"}],
    }
    checked = rows.check(at, of, _archive(tmp_path, entities, version="1.7"))
    told = " ".join(checked.report["warnings"])
    for words in ("“password” of 1 rows", "1 rows of “spells”", "1.7, which is newer"):
        assert words in told, told


def test_somebody_anonymised_does_not_come_back_from_an_old_archive(
    begin: Begin, tmp_path: Path
) -> None:
    entities: dict[str, list[dict[str, Any]]] = {
        "members": [ADA | {"phone": "0700 123"}, ADA | {"id": "2", "first_name": "Bo"}],
        "emergency-contacts": [{"id": "e", "member_id": "1", "name": "Cleo"}],
        "accounts": [{"id": "a", "email": "ada@example.org", "member_id": "1"}],
        "groups": [GROUP | {"responsible_id": "2", "deputy_id": "1"}],
        "territories": [{"id": "t", "number": "7"}],
        "attributions": [
            {
                "id": "w",
                "member_id": "1",
                "territory_id": "t",
                "started_on": "2026-01-05",
                "due_on": "2026-05-05",
                "notes": "Ada rang",
            }
        ],
    }
    with begin() as session:
        of = factories.congregation(session)
    at = rows.bench(begin, tmp_path / "files")
    old = _archive(tmp_path, entities)
    rows.take_over(at, of, old)
    # A newer archive brings the ledger, and nothing else.
    ledger = [
        {
            "id": "l",
            "entity_type": "member",
            "entity_id": "1",
            "requested_by": "anna@example.org",
            "requested_at": "2026-03-01T10:00:00Z",
        }
    ]
    newer = rows.take_over(at, of, _archive(tmp_path, {"erasures": ledger}))
    assert "anonymised again" in " ".join(newer.report["warnings"])
    with begin() as session:
        assert "0700 123" not in _everything(session, of)
    again = rows.check(at, of, old)
    assert (again.report["n_problems"], again.report["n_rows"]) == (0, 0), again.report
    assert "anonymised here" in " ".join(again.report["warnings"])
    with begin() as session:
        erased = session.scalars(select(Erasure.external_ref)).all()
        assert f"{archives.SOURCE}/members/1" in erased


def test_texts_of_an_old_archive_do_not_name_whom_it_still_knows(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    old: dict[str, list[dict[str, Any]]] = {"members": [ADA | {"phone": "0700 123"}]}
    rows.take_over(at, of, _archive(tmp_path, old))
    with sqlite_begin() as session:
        ada = session.scalars(select(Member)).one()
        erase(
            session,
            session.get_one(Congregation, of),
            [ada.id],
            "anna@example.org",
            factories.NOW,
        )
    territory = {"id": "t", "number": "7", "notes": "Ask Ada Lamp, 0700 123, first"}
    rows.take_over(at, of, _archive(tmp_path, old | {"territories": [territory]}))
    with sqlite_begin() as session:
        assert session.scalars(select(Territory.notes)).one() == "Ask •••, •••, first"


def test_whom_the_ledger_knows_before_they_come_is_anonymised_as_they_come(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    ledger = {
        "id": "l",
        "entity_type": "member",
        "entity_id": "1",
        "requested_by": "anna@example.org",
        "requested_at": "2026-03-01T10:00:00Z",
    }
    rows.take_over(at, of, _archive(tmp_path, {"erasures": [ledger]}))
    rows.take_over(at, of, _archive(tmp_path, {"members": [ADA | {"phone": "0700"}]}))
    with sqlite_begin() as session:
        member = session.scalars(select(Member)).one()
        assert (member.phone, member.anonymised_at is not None) == ("", True)


def test_a_document_needs_its_file_and_shares_it_with_its_like(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    for content, fault in ((b"%PDF-1.4 x", None), (b"no PDF", "is no PDF")):
        digest = archives.hashlib.sha256(content).hexdigest()
        file = {"id": "f", "sha256": digest, "size": len(content)}
        document = {
            "id": "d",
            "section_id": "s",
            "title": "Roster",
            "file_id": "f",
            "filename": "r.pdf",
        }
        entities: dict[str, list[dict[str, Any]]] = {
            "board-sections": [SECTION],
            "stored-files": [file],
            "documents": [document],
        }
        checked = rows.check(at, of, _archive(tmp_path, entities, content))
        if fault:
            assert fault in checked.report["problems"][0]["sentence"]
            continue
        assert rows.run(at, rows.confirm(at, checked)).state is LongJobState.DONE
        with sqlite_begin() as session:
            document_id = session.scalars(select(Document.file_id)).one()
            assert session.scalars(select(StoredFile.id)).all() == [document_id]


def _everything(session: Session, of: UUID) -> str:
    found = session.scalars(select(Member).where(Member.congregation_id == of))
    accounts = session.scalars(select(Account).where(Account.congregation_id == of))
    return " ".join(
        [*(f"{row.name} {row.phone}" for row in found), *(a.email for a in accounts)]
    )
