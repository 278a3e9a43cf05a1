"""A congregation that has some of everything that travels, and where it comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Effects
from tasks.congregation.addresses.perimeters import read_geojson
from tasks.congregation.transfer import starting
from tasks.congregation.transfer.entities import ENTITIES
from tasks.lane import Bench
from tasks.lanes import data_transfer
from tasks.models import (
    Account,
    AccountDuty,
    Attribution,
    Campaign,
    CampaignTerritory,
    Consent,
    Duty,
    EmergencyContact,
    Erased,
    Erasure,
    Gender,
    Group,
    GroupMember,
    Member,
    Territory,
    TerritoryKind,
    Transfer,
    TransferKind,
    new_id,
)
from tasks.models.address import Address, AddressArea
from tasks.models.document import BoardSection, Document, DocumentVersion, StoredFile
from tasks.models.long_job import LongJobState
from tasks.models.notification import NotificationPreference
from tasks.operations.audit import Actor
from tasks.storage.local import LocalStorage
from tests.support.factories import NOW
from tests.support.fakes import FakePost

ANNA = Actor("anna@example.org")
TRIANGLE = '{"type": "Polygon", "coordinates": [[[6, 48], [7, 48], [7, 49], [6, 48]]]}'
PDF_ONE = b"%PDF-1.4 one"
PDF_TWO = b"%PDF-1.4 two"
Begin = Callable[[], AbstractContextManager[Session]]


def bench(
    begin: Begin, folder: Path, clock: Callable[[], datetime] = lambda: NOW
) -> Bench:
    post = FakePost()
    return Bench(begin, clock, Effects(post, post), storage=LocalStorage(folder))


def fill(session: Session, of: UUID, storage: LocalStorage) -> None:
    """Add some of everything that travels."""
    ids = {name: new_id() for name in ("ada", "bob", "gone", "group", "duty", "t", "c")}
    tenant: dict[str, Any] = {"congregation_id": of}
    day = date(2026, 1, 5)
    session.add_all(
        [
            Member(
                **tenant,
                id=ids["ada"],
                first_name="Ada",
                last_name="Löwe",
                search_name="lowe ada",
                gender=Gender.FEMALE,
                birth_date=date(1980, 2, 29),
                email="ada@example.org",
                notes="Ä\n\"quoted\" 'and' \\ more",
                is_elder=True,
            ),
            Member(
                **tenant,
                id=ids["bob"],
                first_name="Bob",
                last_name="Kaya",
                search_name="kaya bob",
                left_on=day,
                hold_until=day + timedelta(days=400),
                noticed_at=NOW,
            ),
            Member(
                **tenant,
                id=ids["gone"],
                first_name="Former member",
                last_name="#12",
                search_name="#12 former member",
                anonymised_at=NOW,
            ),
            Territory(
                **tenant,
                id=ids["t"],
                number="7a",
                kind=TerritoryKind.PHONE,
                name="Harbour",
            ),
            Duty(**tenant, id=ids["duty"], key="board_validator", name="Board"),
            Campaign(
                **tenant,
                id=ids["c"],
                name="Spring",
                starts_on=day,
                ends_on=day + timedelta(days=20),
                activated_at=NOW,
                report={"paused": 1, "pairs": ["ä"]},
            ),
            AddressArea(
                **tenant,
                postcodes=["54000"],
                perimeter=read_geojson(TRIANGLE),
            ),
            Address(
                **tenant,
                key="54395 rue haute 1",
                number="1",
                street="Rue Haute",
                insee="54395",
                lat=48.69,
                lon=6.18,
                is_hand_placed=True,
            ),
            Erasure(
                **tenant,
                entity_type=Erased.MEMBER,
                entity_id=ids["gone"],
                requested_by="anna@example.org",
                requested_at=NOW,
                completed_at=NOW,
            ),
        ]
    )
    session.flush()
    account = Account(**tenant, email="ada@example.org", member_id=ids["ada"])
    section = BoardSection(**tenant, name="Rosters")
    group = Group(
        **tenant,
        id=ids["group"],
        name="North",
        responsible_id=ids["ada"],
        deputy_id=ids["bob"],
    )
    session.add_all([account, section, group])
    session.flush()
    session.add_all(
        [
            EmergencyContact(**tenant, member_id=ids["ada"], name="Cleo", phone="112"),
            GroupMember(**tenant, member_id=ids["bob"], group_id=ids["group"]),
            AccountDuty(**tenant, account_id=account.id, duty_id=ids["duty"]),
            NotificationPreference(
                **tenant, account_id=account.id, pattern="document.*", enabled=False
            ),
            Consent(
                **tenant, member_id=ids["ada"], kind="email", given_at=NOW, ip="::1"
            ),
            CampaignTerritory(**tenant, campaign_id=ids["c"], territory_id=ids["t"]),
            Attribution(
                **tenant,
                territory_id=ids["t"],
                member_id=ids["ada"],
                started_on=day,
                due_on=day + timedelta(days=90),
                paused_on=day,
                paused_by_id=ids["c"],
            ),
            Attribution(
                **tenant,
                territory_id=ids["t"],
                member_id=ids["bob"],
                campaign_id=ids["c"],
                started_on=day,
                ended_on=day,
                due_on=day,
            ),
        ]
    )
    _add_documents(session, of, section.id, storage)
    session.flush()


def _add_documents(
    session: Session, of: UUID, section_id: UUID, storage: LocalStorage
) -> None:
    files = []
    for content in (PDF_ONE, PDF_TWO):
        key = f"{of}/board/{new_id()}.pdf"
        stored = storage.put(key, BytesIO(content), limit=100)
        file = StoredFile(
            congregation_id=of, sha256=stored.sha256, size=stored.size, key=key
        )
        files.append(file)
        session.add(file)
    session.flush()
    document = Document(
        congregation_id=of,
        section_id=section_id,
        title="Duty Roster",
        search_title="duty roster",
        file_id=files[1].id,
        filename="roster.pdf",
        number=2,
        visible_until=date(2026, 12, 31),
    )
    session.add(document)
    session.flush()
    for number, file in enumerate(files, 1):
        session.add(
            DocumentVersion(
                congregation_id=of,
                document_id=document.id,
                number=number,
                file_id=file.id,
                filename="roster.pdf",
                uploaded_by="anna@example.org",
            )
        )


def on_its_way(session: Session, of: UUID, mark: str) -> dict[str, str]:
    """Add an archive that was looked at; returns the id that its pages ask for."""
    problem = {"file": mark, "line": 1, "field": mark, "sentence": mark}
    row = Transfer(
        congregation_id=of,
        kind=TransferKind.CHECK,
        state=LongJobState.DONE,
        requested_by=f"{mark}@example.org",
        file_name=f"{mark}.carillon",
        file_key=f"{of}/transfers/{new_id()}.carillon",
        file_size=10,
        expires_at=NOW + timedelta(days=9_000),
        report={
            "about": {"title": mark, "name": mark, "exported_at": mark},
            "counts": {mark: {"new": 1, "updated": 0, "same": 0, "left": 0}},
            "conflicts": {mark: {"n": 1, "lines": [1]}},
            "warnings": [mark],
            "problems": [problem],
            "n_problems": 1,
            "n_rows": 1,
        },
    )
    session.add(row)
    session.flush()
    return {"transfer_id": str(row.id)}


def export(
    at: Bench, of: UUID, *, files: bool = True, audit: bool = False
) -> tuple[Transfer, bytes]:
    """Export a congregation with the lane, and return the archive."""
    with at.begin() as session:
        id_ = starting.start_export(
            session, of, ANNA, files=files, audit=audit, now=at.clock()
        ).id
    row = run(at, id_)
    assert row.file_key is not None, row.error
    with at.storage.open(row.file_key) as stream:
        return row, stream.read()


def check(at: Bench, of: UUID, archive: bytes) -> Transfer:
    """Upload an archive and let the lane look at it."""
    now = at.clock()
    upload = starting.keep_upload(
        at.begin, at.storage, of, BytesIO(archive), "a.carillon", now, limit=1 << 20
    )
    with at.begin() as session:
        id_ = starting.start_check(session, of, upload, ANNA, now).id
    return run(at, id_)


def confirm(at: Bench, checked: Transfer) -> UUID:
    with at.begin() as session:
        n_rows = checked.report["n_rows"]
        return starting.confirm(session, checked.id, ANNA, n_rows, at.clock()).id


def take_over(at: Bench, of: UUID, archive: bytes) -> Transfer:
    """Check an archive and import it, all with the lane."""
    checked = check(at, of, archive)
    assert checked.report.get("problems") == [], (checked.error, checked.report)
    return run(at, confirm(at, checked))


def run(at: Bench, id_: UUID) -> Transfer:
    """Let the lane do the one transfer that waits, and return it."""
    data_transfer.sweep(at, 1)
    with at.begin() as session:
        return session.get_one(Transfer, id_)


def snapshot(session: Session, of: UUID) -> dict[str, list[dict[str, Any]]]:
    """Return every row that travels, with names in the place of ids.

    A row's name is what it says besides ids; those of each table are in an order that
    does not depend on ids either.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    names: dict[str, dict[UUID, str]] = {}
    for entity in ENTITIES:
        table = entity.table
        columns = [column.name for column in entity.columns]
        rows = session.execute(
            select(table).where(table.c.congregation_id == of)
        ).mappings()
        told = []
        for row in rows:
            values = {n: row[n] for n in columns if n not in ("id", "external_ref")}
            values |= dict(_named(values, entity.references, names))
            if entity.means:
                values["entity_id"] = names["members"].get(row["entity_id"])
            if "id" in row:
                text = repr(sorted(values.items()))
                digest = hashlib.sha256(text.encode()).hexdigest()
                names.setdefault(entity.name, {})[row["id"]] = digest
            told.append(values)
        found[entity.name] = sorted(told, key=repr)
    return found


def _named(
    values: Mapping[str, Any],
    references: Mapping[str, str],
    names: Mapping[str, Mapping[UUID, str]],
) -> Iterator[tuple[str, Any]]:
    for column, other in references.items():
        id_ = values[column]
        yield column, None if id_ is None else names[other][id_]
