"""Some of everything of a congregation that travels in an archive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.addresses.perimeters import read_geojson
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
    new_id,
)
from tasks.models.address import Address, AddressArea
from tasks.models.document import BoardSection, Document, DocumentVersion, StoredFile
from tasks.models.notification import NotificationPreference
from tasks.storage import Storage
from tests.support.factories import NOW

DAY = date(2026, 1, 5)
TRIANGLE = '{"type": "Polygon", "coordinates": [[[6, 48], [7, 48], [7, 49], [6, 48]]]}'
PDF_ONE = b"%PDF-1.4 one"
PDF_TWO = b"%PDF-1.4 two"


def fill(session: Session, of: UUID, storage: Storage) -> None:
    """Add some of everything that travels."""
    people = _add_people(session, of)
    _add_offices(session, of, people)
    _add_territory(session, of, people)
    _add_addresses(session, of)
    _add_documents(session, of, storage)
    session.flush()


@dataclass(frozen=True, slots=True)
class _People:
    """The ids of two members; the second has left."""

    ada: UUID
    bob: UUID


def _add_people(session: Session, of: UUID) -> _People:
    ada = Member(
        congregation_id=of,
        first_name="Ada",
        last_name="Löwe",
        search_name="lowe ada",
        gender=Gender.FEMALE,
        birth_date=date(1980, 2, 29),
        email="ada@example.org",
        notes="Ä\n\"quoted\" 'and' \\ more",
        is_elder=True,
    )
    bob = Member(
        congregation_id=of,
        first_name="Bob",
        last_name="Kaya",
        search_name="kaya bob",
        left_on=DAY,
        hold_until=DAY + timedelta(days=400),
        noticed_at=NOW,
    )
    session.add_all([ada, bob])
    session.flush()
    _add_forgotten(session, of)
    common: dict[str, Any] = {"congregation_id": of, "member_id": ada.id}
    session.add_all(
        [
            EmergencyContact(**common, name="Cleo", phone="112"),
            Consent(**common, kind="email", given_at=NOW, ip="::1"),
        ]
    )
    return _People(ada.id, bob.id)


def _add_forgotten(session: Session, of: UUID) -> None:
    """Add a member who was erased, and the proof of it."""
    gone = Member(
        congregation_id=of,
        first_name="Former member",
        last_name="#12",
        search_name="#12 former member",
        anonymised_at=NOW,
    )
    session.add(gone)
    session.flush()
    session.add(
        Erasure(
            congregation_id=of,
            entity_type=Erased.MEMBER,
            entity_id=gone.id,
            requested_by="anna@example.org",
            requested_at=NOW,
            completed_at=NOW,
        )
    )


def _add_offices(session: Session, of: UUID, people: _People) -> None:
    """Add a group with its member, and an account with its duty and its wishes."""
    tenant: dict[str, Any] = {"congregation_id": of}
    group = Group(
        **tenant, name="North", responsible_id=people.ada, deputy_id=people.bob
    )
    duty = Duty(**tenant, key="board_validator", name="Board")
    account = Account(**tenant, email="ada@example.org", member_id=people.ada)
    session.add_all([group, duty, account])
    session.flush()
    session.add_all(
        [
            GroupMember(**tenant, member_id=people.bob, group_id=group.id),
            AccountDuty(**tenant, account_id=account.id, duty_id=duty.id),
            NotificationPreference(
                **tenant, account_id=account.id, pattern="document.*", enabled=False
            ),
        ]
    )


def _add_territory(session: Session, of: UUID, people: _People) -> None:
    """Add a territory, a campaign that goes over it, and who has worked on it."""
    tenant: dict[str, Any] = {"congregation_id": of}
    territory = Territory(
        **tenant, number="7a", kind=TerritoryKind.PHONE, name="Harbour"
    )
    campaign = Campaign(
        **tenant,
        name="Spring",
        starts_on=DAY,
        ends_on=DAY + timedelta(days=20),
        activated_at=NOW,
        report={"paused": 1, "pairs": ["ä"]},
    )
    session.add_all([territory, campaign])
    session.flush()
    tenant["territory_id"] = territory.id
    paused = Attribution(
        **tenant,
        member_id=people.ada,
        started_on=DAY,
        due_on=DAY + timedelta(days=90),
        paused_on=DAY,
        paused_by_id=campaign.id,
    )
    ended = Attribution(
        **tenant,
        member_id=people.bob,
        campaign_id=campaign.id,
        started_on=DAY,
        ended_on=DAY,
        due_on=DAY,
    )
    session.add_all(
        [CampaignTerritory(**tenant, campaign_id=campaign.id), paused, ended]
    )


def _add_addresses(session: Session, of: UUID) -> None:
    area = AddressArea(
        congregation_id=of, postcodes=["54000"], perimeter=read_geojson(TRIANGLE)
    )
    address = Address(
        congregation_id=of,
        key="54395 rue haute 1",
        number="1",
        street="Rue Haute",
        insee="54395",
        lat=48.69,
        lon=6.18,
        is_hand_placed=True,
    )
    session.add_all([area, address])


def _add_documents(session: Session, of: UUID, storage: Storage) -> None:
    """Add a document of two versions."""
    section = BoardSection(congregation_id=of, name="Rosters")
    session.add(section)
    files = [_stored(session, of, storage, pdf) for pdf in (PDF_ONE, PDF_TWO)]
    session.flush()
    document = Document(
        congregation_id=of,
        section_id=section.id,
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


def _stored(session: Session, of: UUID, storage: Storage, content: bytes) -> StoredFile:
    key = f"{of}/board/{new_id()}.pdf"
    stored = storage.put(key, BytesIO(content), limit=100)
    file = StoredFile(
        congregation_id=of, sha256=stored.sha256, size=stored.size, key=key
    )
    session.add(file)
    return file
