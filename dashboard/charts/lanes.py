"""What the charts of each lane count, since a lane's row is another thing in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tasks.saying import mark

_WITHIN: Final = mark(
    "How long one took is not measured: it is done together with others, within one "
    "transaction. How long sweeps took stands in the runs."
)


@dataclass(frozen=True, slots=True)
class Counted:
    """What one lane's charts count; every text is marked."""

    what: str
    #: Why nothing ever waits for the lane; empty: what waits is drawn.
    never_waits: str = ""
    #: Why nothing is drawn of how long one took; empty: it is drawn.
    untimed: str = ""


#: Every lane of the registry.
COUNTED: Final[Mapping[str, Counted]] = {
    "executions": Counted(mark("Counted are attempts at executions.")),
    "scheduled_jobs": Counted(
        mark("Counted are scheduled jobs whose time has come."), untimed=_WITHIN
    ),
    "replanning": Counted(
        mark(
            "Counted are jobs of changed rules and timezones that were ended or made; "
            "they wait from the change."
        ),
        untimed=_WITHIN,
    ),
    "operations": Counted(
        mark(
            "Counted are rows that operations changed or left alone; those of the "
            "first piece wait from the asking."
        ),
        untimed=_WITHIN,
    ),
    "contact_due": Counted(
        mark("Counted are contacts whose time has come."), untimed=_WITHIN
    ),
    "feeds": Counted(mark("Counted are looks at feeds.")),
    "fanout": Counted(
        mark("Counted are events; what is made of them, the lane Deliveries counts."),
        untimed=_WITHIN,
    ),
    "deliveries": Counted(mark("Counted are attempts at deliveries.")),
    "email": Counted(mark("Counted are attempts at mails to accounts.")),
    "admin_mails": Counted(mark("Counted are attempts at mails to admins.")),
    "campaign": Counted(
        mark(
            "Counted are campaigns that began, ended or were missed; they wait from "
            "the midnight before their day."
        ),
        untimed=_WITHIN,
    ),
    "retention": Counted(
        mark(
            "Counted are members who were anonymised, or who have to stay for now; "
            "they wait from the lane’s hour of the day."
        ),
        untimed=_WITHIN,
    ),
    "thumbnail": Counted(mark("Counted are attempts at drawing a first page.")),
    "sync": Counted(mark("Counted are attempts at reading addresses.")),
    "expirations": Counted(
        mark(
            "Counted are documents of which somebody was told; they wait from the "
            "lane’s hour of the day."
        ),
        untimed=_WITHIN,
    ),
    "data_transfer": Counted(mark("Counted are attempts at archives.")),
    "rescue": Counted(
        mark(
            "Counted is what was taken back from vanished workers; it waits from the "
            "end of its lease. What is set aside for good counts as failed in its own "
            "lane."
        ),
        untimed=_WITHIN,
    ),
    "rollups": Counted(
        mark(
            "Counted are transactions of other lanes; they wait until charts show them."
        ),
        untimed=_WITHIN,
    ),
    "volumes": Counted(
        mark(
            "Counted are looks at rules that made something; a rule that was held "
            "counts as skipped."
        ),
        never_waits=mark(
            "Nothing waits for this lane: it looks at what was made, and holds up "
            "nobody meanwhile."
        ),
        untimed=_WITHIN,
    ),
    "janitor": Counted(
        mark("Counted are rows and files that were removed."),
        never_waits=mark(
            "Nothing waits for this lane: what is past its keeping time harms nobody "
            "for an hour more."
        ),
        untimed=_WITHIN,
    ),
}
