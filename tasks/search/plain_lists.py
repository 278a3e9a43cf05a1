"""Every list that a search alone narrows, by its word in addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.search.audit import AUDIT
from tasks.search.mails import MAILS, SUPPRESSIONS
from tasks.search.operations import OPERATIONS
from tasks.search.outreach import CONTACTS, ENGAGEMENTS
from tasks.search.people import MEMBERS
from tasks.search.plain import Plain
from tasks.search.runs import RUNS

#: Apart from ``tasks.search.lists``, which the engine reads at its start.
PLAIN: Final[Mapping[str, Plain]] = {
    "operations": OPERATIONS,
    "audit": AUDIT,
    "members": MEMBERS,
    "engagements": ENGAGEMENTS,
    "contacts": CONTACTS,
    "mails": MAILS,
    "suppressions": SUPPRESSIONS,
    "runs": RUNS,
}
