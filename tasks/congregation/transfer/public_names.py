"""What the public layout calls our columns and entities; its names never change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Column -> what the layout calls it.
NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "members": {
        "id": "id",
        "first_name": "firstname",
        "last_name": "lastname",
        "gender": "isMale",
        "birth_date": "birthDate",
        "baptism_date": "baptismDate",
        "email": "email",
        "phone": "phone",
        "address": "address",
        "is_publisher": "isPublisher",
        "is_elder": "isHelder",
        "is_servant": "isServant",
        "is_anointed": "isAnointed",
        "inactive_on": "inactiveAt",
        "left_on": "leftAt",
        "anonymised_at": "anonymizedAt",
        "created_at": "createdAt",
        "updated_at": "updatedAt",
    },
    "emergency-contacts": {
        "id": "id",
        "member_id": "memberId",
        "name": "name",
        "phone": "phone",
        "relation": "relationship",
    },
    "groups": {
        "id": "id",
        "name": "name",
        "responsible_id": "responsibleId",
        "deputy_id": "deputyId",
    },
    "group-members": {"member_id": "id", "group_id": "publisherGroupId"},
    "accounts": {
        "id": "id",
        "email": "email",
        "name": "lastname",
        "member_id": "memberId",
        "is_active": "active",
        "anonymised_at": "anonymizedAt",
        "created_at": "createdAt",
    },
    "consents": {
        "id": "id",
        "member_id": "userId",
        "kind": "purpose",
        "given_at": "consentedAt",
        "withdrawn_at": "withdrawnAt",
        "ip": "ipAddress",
    },
    "territories": {"id": "id", "number": "number", "kind": "type", "notes": "notes"},
    "attributions": {
        "id": "id",
        "territory_id": "territoryId",
        "member_id": "publisherId",
        "method": "type",
        "started_on": "startDate",
        "ended_on": "endDate",
        "due_on": "lateDate",
        "notes": "notes",
    },
    "board-sections": {"id": "id", "name": "name", "position": "order"},
}
#: Entity -> the file that it is in; in 1.x members and accounts are in "users".
FILES: Final[Mapping[str, str]] = {
    "members": "members",
    "emergency-contacts": "emergency-contacts",
    "groups": "publisher-groups",
    "group-members": "members",
    "accounts": "user-accounts",
    "consents": "consent-records",
    "territories": "territories",
    "attributions": "attributions",
    "board-sections": "board-sections",
}
