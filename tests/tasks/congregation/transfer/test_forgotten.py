"""Whom a congregation has forgotten, no old archive brings back."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.retention.erasing import erase
from tasks.models import Account, Congregation, Erasure, Member, Territory
from tests.support import archives, factories
from tests.support import transfer_rows as rows
from tests.support.transfer_rows import Begin
from tests.tasks.congregation.transfer.conftest import ADA, GROUP, archive_of


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
    old = archive_of(tmp_path, entities)
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
    newer = rows.take_over(at, of, archive_of(tmp_path, {"erasures": ledger}))
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
    rows.take_over(at, of, archive_of(tmp_path, old))
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
    rows.take_over(at, of, archive_of(tmp_path, old | {"territories": [territory]}))
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
    rows.take_over(at, of, archive_of(tmp_path, {"erasures": [ledger]}))
    rows.take_over(at, of, archive_of(tmp_path, {"members": [ADA | {"phone": "0700"}]}))
    with sqlite_begin() as session:
        member = session.scalars(select(Member)).one()
        assert (member.phone, member.anonymised_at is not None) == ("", True)


def _everything(session: Session, of: UUID) -> str:
    found = session.scalars(select(Member).where(Member.congregation_id == of))
    accounts = session.scalars(select(Account).where(Account.congregation_id == of))
    return " ".join(
        [*(f"{row.name} {row.phone}" for row in found), *(a.email for a in accounts)]
    )
