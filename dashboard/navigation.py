"""The console's sections: one row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flask import Flask, request, url_for

from dashboard.security import RoleWord, may
from dashboard.shortcuts import LETTERS, ON_A_PAGE


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation."""

    endpoint: str
    title: str
    icon: str  # a Bootstrap icon
    role: RoleWord = "viewer"  # who sees it
    group: str = ""  # heading above the first of its kind

    @property
    def blueprint(self) -> str:
        """The blueprint whose pages belong to this section."""
        return self.endpoint.partition(".")[0]

    @property
    def key(self) -> str:
        """The letter that opens it, after ``g``; empty: it has none."""
        return LETTERS.get(self.blueprint, "")


SECTIONS: Final = (
    Section("overview.index", "Overview", "speedometer2"),
    Section("executions.index", "Executions", "play-circle"),
    Section("failures.index", "Failures", "exclamation-octagon"),
    Section("scheduled.index", "Scheduled", "clock"),
    Section("agenda.index", "Agenda", "calendar-week"),
    Section("events.index", "Events", "broadcast"),
    Section("rules.index", "Rules", "diagram-3"),
    Section("outreach.index", "Outreach", "person-lines-fill"),
    Section("why.index", "Why?", "question-circle"),
    Section("saved_views.index", "Views", "bookmark"),
    Section("operations.index", "Operations", "collection-play"),
    Section("holds.index", "Holds", "pause-circle"),
    Section("lanes.index", "Lanes", "signpost-split"),
    Section("members.index", "Members", "person-vcard", group="Back office"),
    Section("groups.index", "Groups", "people-fill", group="Back office"),
    Section("territories.index", "Territories", "map", group="Back office"),
    Section("campaigns.index", "Campaigns", "megaphone", group="Back office"),
    Section("board.index", "Board", "pin-angle", group="Back office"),
    Section("addresses.index", "Addresses", "geo-alt", group="Back office"),
    Section("retention.index", "Retention", "incognito", group="Back office"),
    Section("transfers.index", "Data transfer", "archive", group="Back office"),
    Section("notifications.index", "Notifications", "envelope", group="Back office"),
    Section("congregations.index", "Congregations", "buildings", group="Settings"),
    Section("suppressions.index", "Suppressions", "envelope-slash", group="Settings"),
    Section("webhooks.index", "Webhooks", "send", group="Settings"),
    Section("sources.index", "Sources", "box-arrow-in-down", group="Settings"),
    Section("tokens.index", "API tokens", "key", "admin", group="Settings"),
    Section("operators.index", "Operators", "people", "admin", group="Settings"),
    Section("audit.index", "Audit", "journal-text", group="Settings"),
)


def sections() -> Sequence[Section]:
    """Return the sections that who is logged in may open."""
    return [section for section in SECTIONS if may(section.role)]


def is_current(section: Section) -> bool:
    """Whether the page being shown belongs to the section."""
    return request.blueprint == section.blueprint


def section_url(congregation: str) -> str:
    """Return the start of the section that the page being shown belongs to."""
    for section in SECTIONS:
        if is_current(section):
            return url_for(section.endpoint, congregation=congregation)
    return url_for(SECTIONS[0].endpoint, congregation=congregation)


def init_app(app: Flask) -> None:
    """Let layouts draw the navigation."""
    app.jinja_env.globals.update(
        sections=sections,
        is_current=is_current,
        section_url=section_url,
        shortcuts=ON_A_PAGE,
    )
