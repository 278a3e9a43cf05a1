"""Which tables travel in an archive; ``stays`` says which never do.

A new table of a congregation is one row here, behind what it refers to, or one there
with the reason.  A test refuses a table that is in neither.  What refers to what, and
what must be unique, is read from the tables themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from sqlalchemy import and_

from tasks.congregation.names import folded
from tasks.congregation.transfer.entity import Entity, Row, Spans, Unique
from tasks.errors import InvalidInput
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
    Group,
    GroupMember,
    Member,
    Territory,
)
from tasks.models.address import Address, AddressArea
from tasks.models.document import BoardSection, Document, DocumentVersion, StoredFile
from tasks.models.notification import NotificationPreference
from tasks.outbound.mailboxes import BadAddress, normal_address


def _search_name(row: Row) -> str:
    return folded(f"{row['last_name']} {row['first_name']}")[:255]


def _address(text: str) -> str:
    try:
        return normal_address(text) if text else ""
    except BadAddress as error:
        raise InvalidInput("bad_address", "is no e-mail address") from error


def _needed_address(text: str) -> str:
    if not text:
        raise InvalidInput("bad_address", "is empty")
    return _address(text)


def _is_in_order(first: str, last: str) -> Callable[[Row], tuple[str, str] | None]:
    def check(row: Row) -> tuple[str, str] | None:
        if row[last] is not None and row[last] < row[first]:
            return last, f"is before “{first}”"
        return None

    return check


def _is_active(row: Row) -> bool:
    return row["activated_at"] is not None and row["ended_at"] is None


#: Every table that travels, each behind what it refers to.
ENTITIES: Final = (
    Entity(
        Member,
        derives={"search_name": _search_name},
        cleans={"email": _address},
        alike=("search_name", "birth_date"),
    ),
    Entity(EmergencyContact, is_about_people=True),
    Entity(Group, key=("name",)),
    Entity(GroupMember, is_about_people=True),
    Entity(
        Account,
        key=("email",),
        cleans={"email": _needed_address},
        is_about_people=True,
    ),
    Entity(Duty, key=("key",)),
    Entity(AccountDuty, is_about_people=True),
    Entity(NotificationPreference, is_about_people=True),
    Entity(Consent, is_about_people=True),
    Entity(Territory, key=("number",)),
    Entity(
        Campaign,
        key=("name", "starts_on"),
        checks=_is_in_order("starts_on", "ends_on"),
        spans=Spans(
            "starts_on",
            "ends_on",
            lambda row: row["missed_at"] is None,
            Campaign.missed_at.is_(None),
        ),
        uniques_more=(
            Unique(
                (),
                _is_active,
                and_(Campaign.activated_at.is_not(None), Campaign.ended_at.is_(None)),
            ),
        ),
    ),
    Entity(CampaignTerritory),
    Entity(Attribution, checks=_is_in_order("started_on", "ended_on")),
    Entity(AddressArea),
    Entity(Address, key=("key",)),
    Entity(BoardSection, key=("name",)),
    Entity(
        StoredFile,
        key=("sha256",),
        needs_files=True,
        omits=frozenset(
            {
                "key",
                "thumbnail_state",
                "thumbnail_reason",
                "thumbnail_key",
                "thumbnail_width",
                "thumbnail_height",
                "thumbnail_at",
                "run_at",
                "attempt",
                "failures",
                "lease_until",
            }
        ),
    ),
    Entity(
        Document,
        needs_files=True,
        derives={"search_title": lambda row: folded(row["title"])[:200]},
    ),
    Entity(DocumentVersion, needs_files=True),
    Entity(
        Erasure,
        key=("entity_type", "entity_id"),
        means=(
            "entity_id",
            "entity_type",
            {Erased.MEMBER: "members", Erased.ACCOUNT: "accounts"},
        ),
    ),
)

BY_NAME: Final[Mapping[str, Entity]] = MappingProxyType(
    {entity.name: entity for entity in ENTITIES}
)
#: Place of an entity in the order of archives.
PLACE: Final[Mapping[str, int]] = MappingProxyType(
    {entity.name: place for place, entity in enumerate(ENTITIES)}
)
