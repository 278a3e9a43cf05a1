"""Every list that can be searched, as the console knows it: one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tasks.saying import mark
from tasks.search.fields import Fields
from tasks.search.lists import LISTS
from tasks.search.plain_lists import PLAIN


@dataclass(frozen=True, slots=True)
class Searched:
    """A list that can be searched."""

    #: In addresses; the key of ``tasks.search.lists.LISTS``, or of ``PLAIN``.
    word: str
    title: str
    one: str  # what one of its rows is called
    many: str
    endpoint: str
    #: Fields that the list's own filter has as well -> what they are called there.
    lifts: Mapping[str, str]
    box: str = "q"  # what the search is called in the list's address
    tab: str = "state"  # what the open tab is called there

    @property
    def fields(self) -> Fields:
        """What may be asked for."""
        return PLAIN[self.word].fields if self.word in PLAIN else LISTS[self.word]

    @property
    def has_window(self) -> bool:
        """Whether some fields look at the newest rows only."""
        return self.word not in PLAIN or bool(PLAIN[self.word].order)


SEARCHED: Final[Mapping[str, Searched]] = {
    each.word: each
    for each in (
        Searched(
            "executions",
            "Executions",
            "execution",
            "executions",
            "executions.index",
            lifts={
                "state": "state",
                "booking": "booking",
                "event": "event",
                "late": "late",
            },
        ),
        Searched(
            "scheduled",
            "Scheduled",
            "scheduled job",
            "scheduled jobs",
            "scheduled.index",
            lifts={
                "state": "state",
                "booking": "booking",
                "late": "late",
            },
        ),
        Searched(
            "events",
            "Events",
            "event",
            "events",
            "events.index",
            box="text",
            lifts={"type": "type", "booking": "booking"},
        ),
        Searched(
            "deliveries",
            "Deliveries",
            "delivery",
            "deliveries",
            "webhooks.deliveries",
            lifts={"state": "state", "type": "type"},
        ),
        Searched(
            "operations",
            mark("Operations"),
            mark("operation"),
            mark("operations"),
            "operations.index",
            lifts={},
        ),
        Searched(
            "audit",
            mark("Audit"),
            mark("audit entry"),
            mark("audit entries"),
            "audit.index",
            lifts={"about": "kind", "subject": "subject"},
        ),
        Searched(
            "members",
            mark("Members"),
            mark("member"),
            mark("members"),
            "members.index",
            lifts={"state": "tab"},
            tab="tab",
        ),
        Searched(
            "engagements",
            mark("Outreach"),
            mark("engagement"),
            mark("engagements"),
            "outreach.index",
            lifts={},
            tab="tab",
        ),
        Searched(
            "contacts",
            mark("Contacts"),
            mark("contact"),
            mark("contacts"),
            "outreach.contacts",
            lifts={},
        ),
        Searched(
            "mails",
            mark("Notifications"),
            mark("mail"),
            mark("mails"),
            "notifications.index",
            lifts={"state": "state"},
        ),
        Searched(
            "suppressions",
            mark("Suppressions"),
            mark("address"),
            mark("addresses"),
            "suppressions.index",
            lifts={},
        ),
        Searched(
            "runs",
            mark("Runs"),
            mark("run"),
            mark("runs"),
            "lanes.runs",
            lifts={},
        ),
    )
}
