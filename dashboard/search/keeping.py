"""Lists beside outreach, and of what is held or kept, as their searches know them."""

from __future__ import annotations

from typing import Final

from dashboard.search.searched import Searched
from tasks.saying import mark, say_many

KEEPING: Final = (
    Searched(
        "agents",
        mark("Agents"),
        lambda n, shown: say_many(n, "%(n)s agent", "%(n)s agents", n=shown),
        mark("agents"),
        "outreach.agents",
        lifts={},
    ),
    Searched(
        "outreach-campaigns",
        mark("Campaigns of outreach"),
        lambda n, shown: say_many(n, "%(n)s campaign", "%(n)s campaigns", n=shown),
        mark("campaigns of outreach"),
        "outreach.campaigns",
        lifts={},
    ),
    Searched(
        "contact-imports",
        mark("Imports of contacts"),
        lambda n, shown: say_many(n, "%(n)s list", "%(n)s lists", n=shown),
        mark("imports of contacts"),
        "outreach.imports_",
        lifts={},
    ),
    Searched(
        "holds",
        mark("Holds"),
        lambda n, shown: say_many(
            n, "%(n)s hold that ended", "%(n)s holds that ended", n=shown
        ),
        mark("holds that ended"),
        "holds.index",
        lifts={},
    ),
    Searched(
        "retention",
        mark("Retention"),
        lambda n, shown: say_many(
            n, "%(n)s congregation", "%(n)s congregations", n=shown
        ),
        mark("congregations"),
        "retention.index",
        lifts={},
    ),
    Searched(
        "ledger",
        mark("Ledger"),
        lambda n, shown: say_many(n, "%(n)s erasure", "%(n)s erasures", n=shown),
        mark("erasures"),
        "retention.ledger",
        lifts={},
        place=("slug",),
    ),
    Searched(
        "versions",
        mark("Versions"),
        lambda n, shown: say_many(n, "%(n)s version", "%(n)s versions", n=shown),
        mark("versions of a rule"),
        "rules.versions",
        lifts={},
        place=("rule_id",),
    ),
)
