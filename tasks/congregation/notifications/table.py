"""The table of notifications: one row for each type.  Start reading here.

The texts are English: the msgids of the catalogs in ``locale/``, titles those of the
console.  Names of people are never in a payload: the mail reads them when it leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from tasks.congregation.notifications.kind import Field, Kind, said
from tasks.saying import mark

_DOCUMENT: Final[Mapping[str, Field]] = {"title": "text"}
_CAMPAIGN: Final[Mapping[str, Field]] = {"campaign": "text"}
_SYNCED: Final[Mapping[str, Field]] = {
    "source": "text",
    "n_created": "number",
    "n_updated": "number",
    "n_missing": "number",
}

ROWS: Final = (
    Kind(
        "document.created",
        title=mark("A document was added"),
        heading=said("New documents"),
        subject=said("New document: {title}"),
        line=said("“{title}” was added to the board."),
        entity="document",
        fields=_DOCUMENT,
        window=timedelta(minutes=10),
        duty="board_validator",
    ),
    Kind(
        "document.updated",
        title=mark("A document was changed"),
        heading=said("Changed documents"),
        subject=said("Changed document: {title}"),
        line=said("“{title}” was changed."),
        entity="document",
        fields=_DOCUMENT,
        window=timedelta(minutes=10),
        duty="board_validator",
    ),
    Kind(
        "document.deleted",
        title=mark("A document was removed"),
        heading=said("Removed documents"),
        subject=said("Removed document: {title}"),
        line=said("“{title}” was removed from the board."),
        entity="removed",
        fields=_DOCUMENT,
        duty="board_validator",
        cancels=("document.created", "document.updated"),
        is_silent_after=True,
    ),
    Kind(
        "document.expiring",
        title=mark("A document is about to leave the board"),
        heading=said("Documents that end soon"),
        subject=said("“{title}” ends soon"),
        line=said("“{title}” leaves the board on {until}."),
        entity="document",
        fields={"title": "text", "until": "date"},
        duty="board_validator",
    ),
    Kind(
        "territory.given",
        title=mark("A territory was given to them"),
        heading=said("Territories for you"),
        subject=said("You have territory {territory}"),
        line=said("You have territory {territory}, until {due}."),
        entity="attribution",
        window=timedelta(minutes=30),
        holds=lambda facts: bool(facts["is_open"]),
    ),
    Kind(
        "territory.withdrawn",
        title=mark("A territory was taken back from them"),
        heading=said("Territories taken back"),
        subject=said("Territory {territory} was taken back"),
        line=said("You no longer have territory {territory}."),
        entity="attribution",
        cancels=("territory.given",),
        is_silent_after=True,
        holds=lambda facts: not facts["is_open"],
    ),
    Kind(
        "territory.paused",
        title=mark("A campaign paused their territory"),
        heading=said("Paused territories"),
        subject=said("Territory {territory} is paused"),
        line=said("Territory {territory} rests during “{campaign}”; you keep it."),
        entity="attribution",
        fields=_CAMPAIGN,
        cancels=("territory.resumed",),
        holds=lambda facts: bool(facts["is_open"] and facts["is_paused"]),
    ),
    Kind(
        "territory.resumed",
        title=mark("Their territory goes on after a campaign"),
        heading=said("Territories that go on"),
        subject=said("Territory {territory} goes on"),
        line=said("“{campaign}” is over: territory {territory} goes on until {due}."),
        entity="attribution",
        fields=_CAMPAIGN,
        cancels=("territory.paused",),
        holds=lambda facts: bool(facts["is_open"] and not facts["is_paused"]),
    ),
    Kind(
        "territory.closed",
        title=mark("A campaign closed their territory"),
        heading=said("Closed territories"),
        subject=said("Territory {territory} is closed"),
        line=said("Because of “{campaign}” you no longer have territory {territory}."),
        entity="attribution",
        fields=_CAMPAIGN,
        cancels=("territory.given", "territory.paused", "territory.resumed"),
        holds=lambda facts: not facts["is_open"],
    ),
    Kind(
        "retention.notice",
        title=mark("A member is about to be anonymised"),
        heading=said("Members who will be anonymised"),
        subject=said("{member} will be anonymised"),
        line=said("{member}, who left, will be anonymised on {on}."),
        entity="member",
        fields={"on": "date"},
        duty="administrator",
        holds=lambda facts: bool(facts["has_left"]),
    ),
    Kind(
        "retention.blocked",
        title=mark("A member who left cannot be anonymised"),
        heading=said("Members who cannot be anonymised"),
        subject=said("{member} cannot be anonymised yet"),
        line=said(
            "{member}, who left, is still responsible for a group; "
            "put somebody else in charge."
        ),
        entity="member",
        duty="administrator",
        holds=lambda facts: bool(facts["has_left"]),
    ),
    Kind(
        "sync.completed",
        title=mark("Addresses were updated"),
        heading=said("Updated addresses"),
        subject=said("Addresses are up to date: {source}"),
        line=said("{source}: {n_created} new, {n_updated} changed, {n_missing} gone."),
        entity="sync",
        fields=_SYNCED,
        transactional=True,
        tells_actor=True,
    ),
    Kind(
        "sync.failed",
        title=mark("Addresses could not be updated"),
        heading=said("Updates of addresses that failed"),
        subject=said("Addresses could not be updated: {source}"),
        line=said("{source} could not be read; nothing was changed. {error}"),
        entity="sync",
        fields={"source": "text", "error": "text"},
        transactional=True,
        tells_actor=True,
    ),
    Kind(
        "data_transfer.exported",
        title=mark("An export is ready"),
        heading=said("Exports"),
        subject=said("Your export is ready"),
        line=said("The export that you asked for is ready to be fetched."),
        entity="transfer",
        transactional=True,
        tells_actor=True,
    ),
    Kind(
        "data_transfer.imported",
        title=mark("An import is done"),
        heading=said("Imports"),
        subject=said("Your import is done"),
        line=said("The import that you asked for is done."),
        entity="transfer",
        transactional=True,
        tells_actor=True,
    ),
    Kind(
        "data_transfer.failed",
        title=mark("An export or import failed"),
        heading=said("Exports and imports that failed"),
        subject=said("Your export or import failed"),
        line=said("The export or import that you asked for failed. {error}"),
        entity="transfer",
        fields={"error": "text"},
        transactional=True,
        tells_actor=True,
    ),
)
