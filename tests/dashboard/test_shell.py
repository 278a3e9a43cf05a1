from __future__ import annotations

import doctest
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from types import ModuleType

import pytest
from flask import Flask, render_template_string, request

from dashboard import filters, navigation, shortcuts, states, web
from dashboard.operators import models, passwords
from tasks.config import Config
from tasks.models import (
    AttemptOutcome,
    BookingStatus,
    DecisionOutcome,
    EpisodeStatus,
    ExecutionState,
    JobState,
    Reason,
    WorkerState,
)
from tests.conftest import NOW
from tests.dashboard.conftest import Browser


@pytest.mark.parametrize("module", [filters, passwords, models, states])
def test_the_examples_in_docstrings_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "words",
    [
        ExecutionState,
        JobState,
        AttemptOutcome,
        DecisionOutcome,
        BookingStatus,
        EpisodeStatus,
        WorkerState,
    ],
)
def test_every_state_has_its_look(words: type[StrEnum]) -> None:
    assert {word.value for word in words} <= set(states.LOOKS)


def test_every_icon_that_is_named_exists() -> None:
    for look in states.LOOKS.values():
        assert web.icon(look.icon)
    for section in navigation.SECTIONS:
        assert web.icon(section.icon)


def test_every_reason_has_a_sentence() -> None:
    for reason in Reason:
        assert filters.reason(reason).endswith(".")
    assert filters.reason(None) == ""
    assert filters.reason("a_new_one") == "A new one."


@pytest.mark.parametrize(
    ("away", "words"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=40), "in 40\xa0s"),
        (timedelta(minutes=-3), "3\xa0min ago"),
        (timedelta(days=2, hours=5), "in 2\xa0d"),
        (timedelta(days=-90), "10 Dec 2025"),
    ],
)
def test_times_are_told_in_words(away: timedelta, words: str) -> None:
    assert filters.relative(NOW + away, NOW) == words


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{% from 'components/time.html' import moment %}{{ moment(None) }}", "—"),
        (
            "{% from 'components/time.html' import moment %}"
            "{{ moment(None, none='not yet') }}",
            "not yet",
        ),
        (
            "{% from 'components/state.html' import pill %}{{ pill('failed') }}",
            'data-state="failed"',
        ),
        (
            "{% from 'components/table.html' import empty %}"
            "{{ empty('Nothing yet', 'Hint <b>', ('Begin', '/x')) }}",
            "Hint &lt;b&gt;",
        ),
        (
            "{% from 'components/form.html' import post_button %}"
            "{{ post_button('/x', 'Go', confirm='Sure?') }}",
            '<details class="confirm">',
        ),
        (
            "{% from 'components/panel.html' import facts %}"
            "{{ facts([('A', none), ('B', '<i>')]) }}",
            "&lt;i&gt;",
        ),
    ],
)
def test_components_draw(app: Flask, source: str, expected: str) -> None:
    with app.test_request_context():
        assert expected in render_template_string(source)


def test_a_list_s_next_page_keeps_the_filter(app: Flask) -> None:
    source = (
        "{% from 'components/table.html' import pager %}"
        "{{ pager({'next_cursor': 'abc', 'previous_cursor': none}) }}"
    )
    with app.test_request_context("/healthz?state=failed&state=skipped&cursor=old"):
        html = render_template_string(source)

    assert "state=failed&amp;state=skipped&amp;cursor=abc" in html
    assert "old" not in html


@pytest.mark.parametrize(
    ("verb", "page"),
    [
        ("/failures/acknowledge", "/failures/"),
        ("/lanes/rescue/workers", "/lanes/rescue"),
        ("/rules/new", "/rules/new"),
        ("/login", "/login"),
    ],
)
def test_the_page_of_a_refused_verb_leads_to_its_noun(
    app: Flask, verb: str, page: str
) -> None:
    with app.test_request_context(f"{verb}?a=1", method="POST"):
        assert render_template_string("{{ url_with() }}") == f"{page}?a=1"


def test_the_navigation_shows_what_the_role_may_open(
    app: Flask, as_viewer: Browser, as_admin: Browser
) -> None:
    viewer = as_viewer.get("/account/password").get_data(as_text=True)
    admin = as_admin.get("/operators/").get_data(as_text=True)

    assert 'href="/operators/"' not in viewer
    assert 'href="/operators/" aria-current="page"' in admin


def test_a_name_is_shown_as_text(log_in: Callable[..., Browser]) -> None:
    browser = log_in("viewer", name="<script>alert(1)</script>")

    page = browser.get("/account/password").get_data(as_text=True)

    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


@pytest.mark.parametrize(("hops", "seen"), [(0, "127.0.0.1"), (1, "203.0.113.9")])
def test_a_forwarded_address_counts_only_behind_as_many_proxies_as_are_set(
    config: Config, make_app: Callable[[Config], Flask], hops: int, seen: str
) -> None:
    app = make_app(replace(config, proxy_hops=hops))
    app.add_url_rule("/whoami", "healthz.whoami", lambda: request.remote_addr or "")
    app.before_request_funcs.clear()
    forged = {"X-Forwarded-For": "198.51.100.7, 203.0.113.9"}
    assert app.test_client().get("/whoami", headers=forged).text == seen


def test_each_section_has_a_letter_of_its_own() -> None:
    letters = list(shortcuts.LETTERS.values())
    blueprints = {section.blueprint for section in navigation.SECTIONS}

    assert len(set(letters)) == len(letters)
    assert all(len(letter) == 1 and letter.islower() for letter in letters)
    assert set(shortcuts.LETTERS) <= blueprints


def test_the_navigation_and_the_help_print_the_keys(as_viewer: Browser) -> None:
    page = as_viewer.get("/account/").get_data(as_text=True)

    assert 'data-key="e" title="Executions (g, then e)"' in page
    for keys, does in shortcuts.ON_A_PAGE:
        assert does in page
        assert all(f"<kbd>{key}</kbd>" in page for key in keys)
