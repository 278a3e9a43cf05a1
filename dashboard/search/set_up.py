"""Lists of what is set up, and of the back office, as their searches know them."""

from __future__ import annotations

from typing import Final

from dashboard.search.searched import Searched
from tasks.saying import mark, say_many

SET_UP: Final = (
    Searched(
        "rules",
        mark("Rules"),
        lambda n, shown: say_many(n, "%(n)s rule", "%(n)s rules", n=shown),
        mark("rules"),
        "rules.index",
        lifts={"state": "enabled", "trigger": "trigger", "action": "action"},
    ),
    Searched(
        "failures",
        mark("Failures"),
        lambda n, shown: say_many(
            n, "%(n)s group of failures", "%(n)s groups of failures", n=shown
        ),
        mark("groups of failures"),
        "failures.index",
        lifts={"state": "show"},
        tab="show",
    ),
    Searched(
        "endpoints",
        mark("Webhooks"),
        lambda n, shown: say_many(n, "%(n)s endpoint", "%(n)s endpoints", n=shown),
        mark("endpoints"),
        "webhooks.index",
        lifts={},
    ),
    Searched(
        "territories",
        mark("Territories"),
        lambda n, shown: say_many(n, "%(n)s territory", "%(n)s territories", n=shown),
        mark("territories"),
        "territories.index",
        lifts={"state": "tab"},
        tab="tab",
    ),
    Searched(
        "campaigns",
        mark("Campaigns"),
        lambda n, shown: say_many(n, "%(n)s campaign", "%(n)s campaigns", n=shown),
        mark("campaigns"),
        "campaigns.index",
        lifts={},
    ),
    Searched(
        "groups",
        mark("Groups"),
        lambda n, shown: say_many(n, "%(n)s group", "%(n)s groups", n=shown),
        mark("groups"),
        "groups.index",
        lifts={},
    ),
    Searched(
        "documents",
        mark("Board"),
        lambda n, shown: say_many(n, "%(n)s document", "%(n)s documents", n=shown),
        mark("documents"),
        "board.index",
        lifts={"state": "tab"},
        tab="tab",
    ),
    Searched(
        "addresses",
        mark("Addresses"),
        lambda n, shown: say_many(n, "%(n)s address", "%(n)s addresses", n=shown),
        mark("addresses"),
        "addresses.index",
        lifts={"state": "tab"},
        tab="tab",
    ),
    Searched(
        "syncs",
        mark("Syncs with open data"),
        lambda n, shown: say_many(n, "%(n)s sync", "%(n)s syncs", n=shown),
        mark("syncs"),
        "addresses.syncs",
        lifts={},
    ),
    Searched(
        "transfers",
        mark("Data transfer"),
        lambda n, shown: say_many(n, "%(n)s transfer", "%(n)s transfers", n=shown),
        mark("transfers"),
        "transfers.index",
        lifts={},
    ),
    Searched(
        "recipients",
        mark("Recipients"),
        lambda n, shown: say_many(n, "%(n)s account", "%(n)s accounts", n=shown),
        mark("accounts"),
        "notifications.recipient_list",
        lifts={},
    ),
    Searched(
        "congregations",
        mark("Congregations"),
        lambda n, shown: say_many(
            n, "%(n)s congregation", "%(n)s congregations", n=shown
        ),
        mark("congregations"),
        "congregations.index",
        lifts={},
    ),
    Searched(
        "tokens",
        mark("API tokens"),
        lambda n, shown: say_many(n, "%(n)s token", "%(n)s tokens", n=shown),
        mark("tokens"),
        "tokens.index",
        lifts={},
        role="admin",
    ),
)
