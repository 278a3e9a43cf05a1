"""Which tables travel in an archive; ``stays`` says which never do.

A new table of a congregation is one row here, behind what it refers to, or one there
with the reason.  A test refuses a table that is in neither.  What refers to what, and
what must be unique, is read from the tables themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sqlalchemy import and_

from tasks.congregation.transfer import checks
from tasks.congregation.transfer.entity import Entity, Spans, Unique
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

#: Every table that travels, each behind what it refers to.
ENTITIES: Final = (
    Entity(
        Member,
        derives={"search_name": checks.search_name},
        cleans={"email": checks.address},
        alike=("search_name", "birth_date"),
    ),
    Entity(EmergencyContact, is_about_people=True),
    Entity(Group, key=("name",)),
    Entity(GroupMember, is_about_people=True),
    Entity(
        Account,
        key=("email",),
        cleans={
            "email": checks.needed_address,
            "timezone": checks.timezone,
            "locale": checks.locale,
        },
        is_about_people=True,
    ),
    Entity(Duty, key=("key",)),
    Entity(AccountDuty, is_about_people=True),
    Entity(NotificationPreference, is_about_people=True),
    Entity(Consent, is_about_people=True),
    Entity(Territory, key=("number",)),
    Entity(
        Campaign,
        # It tells what was done here, by the ids that rows have here.
        omits=frozenset({"report"}),
        cleans={"rest_days": checks.rest_days},
        key=("name", "starts_on"),
        checks=checks.in_order("starts_on", "ends_on"),
        spans=Spans(
            "starts_on",
            "ends_on",
            lambda row: row["missed_at"] is None,
            Campaign.missed_at.is_(None),
        ),
        uniques_more=(
            Unique(
                (),
                checks.is_active,
                and_(Campaign.activated_at.is_not(None), Campaign.ended_at.is_(None)),
            ),
        ),
    ),
    Entity(CampaignTerritory),
    Entity(
        Attribution,
        is_about_people=True,
        checks=checks.in_order("started_on", "ended_on"),
    ),
    Entity(
        AddressArea,
        cleans={
            "postcodes": checks.texts,
            "communes": checks.texts,
            "urls": checks.texts,
            "perimeter": checks.perimeter,
        },
    ),
    Entity(Address, key=("key",), checks=checks.is_a_place),
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
        derives={"search_title": checks.search_title},
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
