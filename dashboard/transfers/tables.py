"""What people call the tables of an archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.saying import mark

#: Table of an archive -> its name.
TABLES: Final[Mapping[str, str]] = {
    "members": mark("Members"),
    "emergency-contacts": mark("Emergency contacts"),
    "groups": mark("Groups"),
    "group-members": mark("Group members"),
    "accounts": mark("Accounts"),
    "duties": mark("Duties"),
    "account-duties": mark("Account duties"),
    "notification-preferences": mark("Notification preferences"),
    "consents": mark("Consents"),
    "territories": mark("Territories"),
    "campaigns": mark("Campaigns"),
    "campaign-territories": mark("Campaign territories"),
    "attributions": mark("Attributions"),
    "address-areas": mark("Address areas"),
    "addresses": mark("Addresses"),
    "board-sections": mark("Board sections"),
    "stored-files": mark("Stored files"),
    "documents": mark("Documents"),
    "document-versions": mark("Document versions"),
    "erasures": mark("Erasures"),
    "audit-entries": mark("Audit entries"),
}
