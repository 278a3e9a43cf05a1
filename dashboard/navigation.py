"""The console's sections: one row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flask import Flask, current_app, render_template, request, url_for
from markupsafe import Markup

from dashboard.operators.models import RoleName
from dashboard.security import RoleWord, current_operator, may
from dashboard.shortcuts import LETTERS, ON_A_PAGE
from tasks.saying import language, mark


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation; its words are marked for the catalogs."""

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


OFFICE: Final = mark("Back office")
SETTINGS: Final = mark("Settings")
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
    Section("members.index", "Members", "person-vcard", group=OFFICE),
    Section("groups.index", "Groups", "people-fill", group=OFFICE),
    Section("territories.index", "Territories", "map", group=OFFICE),
    Section("campaigns.index", "Campaigns", "megaphone", group=OFFICE),
    Section("board.index", "Board", "pin-angle", group=OFFICE),
    Section("addresses.index", "Addresses", "geo-alt", group=OFFICE),
    Section("retention.index", "Retention", "incognito", group=OFFICE),
    Section("transfers.index", "Data transfer", "archive", group=OFFICE),
    Section("notifications.index", "Notifications", "envelope", group=OFFICE),
    Section("congregations.index", "Congregations", "buildings", group=SETTINGS),
    Section("suppressions.index", "Suppressions", "envelope-slash", group=SETTINGS),
    Section("webhooks.index", "Webhooks", "send", group=SETTINGS),
    Section("sources.index", "Sources", "box-arrow-in-down", group=SETTINGS),
    Section("tokens.index", "API tokens", "key", "admin", group=SETTINGS),
    Section("operators.index", "Operators", "people", "admin", group=SETTINGS),
    Section("audit.index", "Audit", "journal-text", group=SETTINGS),
)

#: Stands in the drawn list where the saved views go.
_VIEWS: Final = Markup("<!-- views -->")
#: Blueprint -> the section to which its pages belong.
_OF_PAGES: Final = {section.blueprint: section for section in SECTIONS}


def sections() -> Sequence[Section]:
    """Return the sections that who is logged in may open."""
    return _open_to(current_operator().role) if may("viewer") else ()


@lru_cache
def _open_to(role: RoleName) -> Sequence[Section]:
    return tuple(each for each in SECTIONS if role.covers(RoleName(each.role)))


def section_list() -> tuple[Markup, Markup]:
    """Return the menu's list, before and after the saved views of who looks."""
    drawn = _draw("layouts/_sections.html", request.blueprint, request.root_path)
    before, _, after = drawn.partition(_VIEWS)
    return before, after


def keys_dialog() -> Markup:
    """Return the dialog that says what keys do."""
    return _draw("layouts/_keys.html")


def _draw(template: str, *page: str | None) -> Markup:
    draw = _drawn.__wrapped__ if current_app.debug else _drawn
    return draw(template, sections(), language.get(), page)


@lru_cache(maxsize=256)
def _drawn(
    template: str,
    shown: Sequence[Section],
    _language: str,
    _page: tuple[str | None, ...],  # what else it depends on
) -> Markup:
    """Draw it once for all who see the same: it took a tenth of every page."""
    drawn = render_template(template, sections=shown, views=_VIEWS)
    return Markup(drawn)  # noqa: S704  # a template of ours


def is_current(section: Section) -> bool:
    """Whether the page being shown belongs to the section."""
    return request.blueprint == section.blueprint


def section_url(congregation: str) -> str:
    """Return the start of the section that the page being shown belongs to."""
    section = _OF_PAGES.get(request.blueprint or "", SECTIONS[0])
    return url_for(section.endpoint, congregation=congregation)


def init_app(app: Flask) -> None:
    """Let layouts draw the navigation."""
    app.jinja_env.globals.update(
        section_list=section_list,
        keys_dialog=keys_dialog,
        is_current=is_current,
        section_url=section_url,
        shortcuts=ON_A_PAGE,
    )
