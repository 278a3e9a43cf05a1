"""The styleguide: every component in every state."""

from __future__ import annotations

from dataclasses import replace

from bs4 import BeautifulSoup

from dashboard.states import LOOKS
from tests.dashboard.conftest import Browser


def test_every_state_is_shown(as_admin: Browser) -> None:
    answer = as_admin.get("/styleguide/")
    page = BeautifulSoup(answer.get_data(as_text=True), "html.parser")

    assert answer.status_code == 200
    shown = {pill["data-state"] for pill in page.select("#pills .pill")}
    assert shown == set(LOOKS)
    assert len(page.select("#forms .field")) == 11


def test_only_installations_for_development_show_it(as_admin: Browser) -> None:
    settings = as_admin.application.config
    settings["CARILLON"] = replace(settings["CARILLON"], environment="production")

    assert as_admin.get("/styleguide/").status_code == 404
