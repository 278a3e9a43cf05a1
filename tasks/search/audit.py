"""What a search of the audit log means."""

from __future__ import annotations

from typing import Final

from tasks.models.access import AuditEntry
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Meanings
from tasks.search.fields import Field, Kind
from tasks.search.plain import ID, WHERE, Plain, begins, table

#: What operators act on, as entries call it; offered, while others are taken as well.
_SUBJECTS: Final = (
    *("rule", "execution", "scheduled_job", "operation", "hold", "lane"),
    *("congregation", "token", "suppression", "source", "feed", "endpoint"),
    *("delivery", "event", "engagement", "contact", "agent", "contact_import"),
    *("member", "digest_mail", "operator", "export", "view"),
)
_FIELDS: Final = table(
    Field("who", Kind.TEXT, mark("Part of who did it"), example="anna@"),
    Field("action", Kind.TEXT, mark("How the action begins"), example="rule."),
    Field("about", Kind.ID, mark("What kind of thing it was done to"), _SUBJECTS),
    Field("subject", Kind.ID, mark("The id of what it was done to")),
    Field("at", Kind.MOMENT, mark("When it was done")),
    WHERE,
    ID,
)
AUDIT: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "who": mean.contains(AuditEntry.actor),
            "action": begins(AuditEntry.action),
            "about": mean.equals(AuditEntry.subject_kind),
            "subject": mean.equals(AuditEntry.subject_id),
            "at": mean.moment(AuditEntry.created_at),
            "congregation": mean.in_congregation(AuditEntry.congregation_id),
            "id": mean.is_id(AuditEntry.id),
        },
        early=frozenset({"about", "subject", "at", "congregation", "id"}),
    ),
    words=mean.contains(AuditEntry.summary),
    id=AuditEntry.id,
    order=(AuditEntry.created_at.desc(), AuditEntry.id.desc()),
)
