"""Every list that can be searched, as the console knows it: one row each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.search.keeping import KEEPING
from dashboard.search.searched import Searched
from dashboard.search.set_up import SET_UP
from tasks.saying import mark, say_many

SEARCHED: Final[Mapping[str, Searched]] = {
    each.word: each
    for each in (
        Searched(
            "executions",
            mark("Executions"),
            lambda n, shown: say_many(
                n, "%(n)s execution", "%(n)s executions", n=shown
            ),
            mark("executions"),
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
            mark("Scheduled"),
            lambda n, shown: say_many(
                n, "%(n)s scheduled job", "%(n)s scheduled jobs", n=shown
            ),
            mark("scheduled jobs"),
            "scheduled.index",
            lifts={
                "state": "state",
                "booking": "booking",
                "late": "late",
            },
        ),
        Searched(
            "events",
            mark("Events"),
            lambda n, shown: say_many(n, "%(n)s event", "%(n)s events", n=shown),
            mark("events"),
            "events.index",
            box="text",
            lifts={"type": "type", "booking": "booking"},
        ),
        Searched(
            "deliveries",
            mark("Deliveries"),
            lambda n, shown: say_many(n, "%(n)s delivery", "%(n)s deliveries", n=shown),
            mark("deliveries"),
            "webhooks.deliveries",
            lifts={"state": "state", "type": "type"},
        ),
        Searched(
            "operations",
            mark("Operations"),
            lambda n, shown: say_many(
                n, "%(n)s operation", "%(n)s operations", n=shown
            ),
            mark("operations"),
            "operations.index",
            lifts={},
        ),
        Searched(
            "audit",
            mark("Audit"),
            lambda n, shown: say_many(
                n, "%(n)s audit entry", "%(n)s audit entries", n=shown
            ),
            mark("audit entries"),
            "audit.index",
            lifts={"about": "kind", "subject": "subject"},
        ),
        Searched(
            "members",
            mark("Members"),
            lambda n, shown: say_many(n, "%(n)s member", "%(n)s members", n=shown),
            mark("members"),
            "members.index",
            lifts={"state": "tab"},
            tab="tab",
        ),
        Searched(
            "engagements",
            mark("Outreach"),
            lambda n, shown: say_many(
                n, "%(n)s engagement", "%(n)s engagements", n=shown
            ),
            mark("engagements"),
            "outreach.index",
            lifts={},
            tab="tab",
        ),
        Searched(
            "contacts",
            mark("Contacts"),
            lambda n, shown: say_many(n, "%(n)s contact", "%(n)s contacts", n=shown),
            mark("contacts"),
            "outreach.contacts",
            lifts={},
        ),
        Searched(
            "mails",
            mark("Notifications"),
            lambda n, shown: say_many(n, "%(n)s mail", "%(n)s mails", n=shown),
            mark("mails"),
            "notifications.index",
            lifts={"state": "state"},
        ),
        Searched(
            "suppressions",
            mark("Suppressions"),
            lambda n, shown: say_many(n, "%(n)s address", "%(n)s addresses", n=shown),
            mark("addresses"),
            "suppressions.index",
            lifts={},
        ),
        Searched(
            "runs",
            mark("Runs"),
            lambda n, shown: say_many(n, "%(n)s run", "%(n)s runs", n=shown),
            mark("runs"),
            "lanes.runs",
            lifts={},
        ),
        *SET_UP,
        *KEEPING,
    )
}
