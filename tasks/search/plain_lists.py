"""Every list that a search alone narrows, by its word in addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.search.addresses import ADDRESSES, SYNCS
from tasks.search.audit import AUDIT
from tasks.search.documents import DOCUMENTS
from tasks.search.failures import FAILURES
from tasks.search.groups import GROUPS, RECIPIENTS
from tasks.search.holds import HOLDS
from tasks.search.houses import CONGREGATIONS, TOKENS
from tasks.search.kept import LEDGER, VERSIONS
from tasks.search.mails import MAILS, SUPPRESSIONS
from tasks.search.operations import OPERATIONS
from tasks.search.outreach import CONTACTS, ENGAGEMENTS
from tasks.search.people import MEMBERS
from tasks.search.plain import Plain
from tasks.search.retention import RETENTION
from tasks.search.rules import ENDPOINTS, RULES
from tasks.search.runs import RUNS
from tasks.search.senders import AGENTS, CONTACT_IMPORTS, OUTREACH_CAMPAIGNS
from tasks.search.territories import CAMPAIGNS, TERRITORIES
from tasks.search.transfers import TRANSFERS

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
    "rules": RULES,
    "failures": FAILURES,
    "endpoints": ENDPOINTS,
    "territories": TERRITORIES,
    "campaigns": CAMPAIGNS,
    "groups": GROUPS,
    "documents": DOCUMENTS,
    "addresses": ADDRESSES,
    "syncs": SYNCS,
    "transfers": TRANSFERS,
    "recipients": RECIPIENTS,
    "congregations": CONGREGATIONS,
    "tokens": TOKENS,
    "agents": AGENTS,
    "outreach-campaigns": OUTREACH_CAMPAIGNS,
    "contact-imports": CONTACT_IMPORTS,
    "holds": HOLDS,
    "retention": RETENTION,
    "ledger": LEDGER,
    "versions": VERSIONS,
}
