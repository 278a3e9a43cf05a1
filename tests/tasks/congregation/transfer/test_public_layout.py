"""Archives of the public layout: what we have of it, in our words, and what is left."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tasks.models import (
    Account,
    Attribution,
    Consent,
    Gender,
    GroupMember,
    Member,
    Method,
    Territory,
    TerritoryKind,
)
from tasks.models.document import Document, DocumentVersion
from tasks.models.long_job import LongJobState
from tests.support import archives, factories
from tests.support import transfer_rows as rows
from tests.support.transfer_rows import Begin

_PERSON: dict[str, Any] = {
    "isPublisher": True,
    "isMale": False,
    "phone": "0700",
    "address": "1 Hill",
    "birthDate": "1980-02-29T00:00:00.000Z",
    "baptismDate": None,
    "isHelder": True,
    "isServant": False,
    "isAnointed": False,
    "anonymizedAt": None,
    "publisherGroupId": 5,
    "createdAt": "2024-01-01T08:00:00.000Z",
    "updatedAt": "2024-01-01T08:00:00.000Z",
}
#: Midnight in Paris, as programs there store a local day.
_LOCAL_DAY = "2026-02-28T23:00:00.000Z"
_COMMON: dict[str, list[dict[str, Any]]] = {
    "congregation": [{"name": "Nord", "slug": "nord", "timezone": "Europe/Paris"}],
    "publisher-groups": [
        {"id": 5, "name": "North", "adress": "", "responsibleId": 1, "deputyId": None}
    ],
    "territories": [{"id": 3, "number": "7", "type": "door-to-door", "notes": ""}],
    "attributions": [
        {
            "id": 9,
            "type": "default",
            "publisherId": 1,
            "territoryId": 3,
            "startDate": _LOCAL_DAY,
            "endDate": None,
            "lateDate": "2026-06-30T22:00:00.000Z",
            "notes": "",
        }
    ],
    "consent-records": [
        {
            "id": 4,
            "purpose": "email",
            "consentedAt": "2025-01-01T08:00:00.000Z",
            "withdrawnAt": None,
            "consentVersion": "1",
            "ipAddress": None,
            "userId": 1,
        }
    ],
    "publisher-activities": [{"id": 1}, {"id": 2}],
}
_USER = {"id": 1, "firstname": "Ada", "lastname": "Lamp", "email": "Ada@example.org"}
_ACCOUNT = {
    "id": 1,
    "memberId": 1,
    "firstname": None,
    "lastname": None,
    "email": "Ada@example.org",
    "active": True,
    "anonymizedAt": None,
    "createdAt": "2024-01-01T08:00:00.000Z",
}
_PLACEHOLDER = {
    "id": 2,
    "firstname": "Bo",
    "lastname": "Hut",
    "email": "2@placeholder.unitae.app",
    "active": True,
}
VERSIONS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "1.0": {
        "users": [
            _USER | _PERSON | {"active": True},
            _PLACEHOLDER | _PERSON | {"id": 2},
        ]
    },
    "2.6": {
        "members": [
            {"id": 1, "firstname": "Ada", "lastname": "Lamp", **_PERSON},
            {"id": 2, "firstname": "Bo", "lastname": "Hut", **_PERSON},
        ],
        "user-accounts": [_ACCOUNT, _PLACEHOLDER | {"memberId": 2}],
    },
}


@pytest.mark.parametrize("version", VERSIONS)
def test_archives_of_old_and_new_versions_bring_the_same_rows(
    version: str, sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session, timezone="Europe/Paris")
    at = rows.bench(sqlite_begin, tmp_path / "files")
    path = archives.write_public(
        tmp_path / "a", _COMMON | VERSIONS[version], version=version
    )
    checked = rows.check(at, of, path.read_bytes())
    assert checked.report["problems"] == [], checked.error
    told = " ".join(checked.report["warnings"])
    for words in ("2 rows of “publisher-activities”", "1 accounts are left out"):
        assert words in told, told
    done = rows.run(at, rows.confirm(at, checked))
    assert done.state is LongJobState.DONE, done.error
    with sqlite_begin() as session:
        ada, _ = session.scalars(select(Member).order_by(Member.first_name))
        assert (ada.name, ada.gender, ada.is_elder) == ("Ada Lamp", Gender.FEMALE, True)
        assert (ada.birth_date, ada.search_name) == (date(1980, 2, 29), "lamp ada")
        account = session.scalars(select(Account)).one()
        assert (account.email, account.member_id) == ("ada@example.org", ada.id)
        assert len(session.scalars(select(GroupMember)).all()) == 2
        assert session.scalars(select(Consent.member_id)).all() == [ada.id]
        territory = session.scalars(select(Territory)).one()
        assert territory.kind is TerritoryKind.DOOR_TO_DOOR
        work = session.scalars(select(Attribution)).one()
        assert (work.method, work.started_on) == (Method.DEFAULT, date(2026, 3, 1))
        assert work.due_on == date(2026, 7, 1)
    again = rows.check(at, of, path.read_bytes())
    assert (again.report["n_rows"], again.report["n_problems"]) == (0, 0)


def test_a_row_without_its_parent_is_a_problem_and_is_not_dropped(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    entities = _COMMON | {"members": [], "user-accounts": []}
    path = archives.write_public(tmp_path / "a", entities)
    found = rows.check(at, of, path.read_bytes()).report["problems"]
    assert [(p["file"], p["line"], p["field"]) for p in found] == [
        ("publisher-groups.ndjson", 1, "responsibleId"),
        ("attributions.ndjson", 1, "publisherId"),
    ]


def test_documents_of_the_public_layout_come_with_their_files(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    document = {
        "title": "Roster",
        "sectionId": 1,
        "order": None,
        "visibleFrom": None,
        "visibleUntil": None,
        "isHighlighted": False,
        "createdAt": "2024-01-01T08:00:00.000Z",
    }
    version = {"documentId": 1, "versionNumber": 1, "createdAt": document["createdAt"]}
    entities: dict[str, list[dict[str, Any]]] = {
        "board-sections": [{"id": 1, "name": "Rosters", "order": None}],
        "board-documents": [
            document | {"id": 1, "uri": "9/board/new.pdf"},
            document | {"id": 2, "uri": "9/board/lost.pdf"},
        ],
        "board-document-versions": [version | {"id": 1, "uri": "9/board/old.pdf"}],
    }
    told = {
        "version": "2.6",
        "exportDate": "2026-03-01T10:00:00.000Z",
        "sourceApp": "unitae",
        "entityCounts": {name: len(each) for name, each in entities.items()},
    }
    made = {"manifest.json": archives.as_json(told)}
    made |= {f"data/{n}.ndjson": archives.lines(each) for n, each in entities.items()}
    made |= {"files/board/new.pdf": b"%PDF-1 new", "files/board/old.pdf": b"%PDF-1 old"}
    made |= {"files/board/new.png": b"PNG"}
    path = archives.write_raw(tmp_path / "a", made)
    done = rows.take_over(at, of, path.read_bytes())
    assert done.state is LongJobState.DONE, done.error
    assert "1 documents or versions are left out" in " ".join(done.report["warnings"])
    with sqlite_begin() as session:
        roster = session.scalars(select(Document)).one()
        assert (roster.title, roster.number, roster.filename) == (
            "Roster",
            2,
            "new.pdf",
        )
        versions = session.scalars(
            select(DocumentVersion).order_by(DocumentVersion.number)
        ).all()
        assert [row.filename for row in versions] == ["old.pdf", "new.pdf"]
        assert versions[1].file_id == roster.file_id
