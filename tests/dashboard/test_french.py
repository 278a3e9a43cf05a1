"""Whatever people read can be said in their language: nothing is forgotten.

The pages are asked for in a language that marks each of its texts, so that what is not
marked is data, or was forgotten.  Templates and modules are looked through as well,
for what no page of the test shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from babel.dates import get_day_names, get_month_names
from flask import Flask, g
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from dashboard import ROOT, filters, languages, template_words
from dashboard.executions.forms import ExecutionFilter
from dashboard.filtering import NO_CHOICES
from dashboard.filters import pretty
from dashboard.notifications.groups import Item
from dashboard.operators.models import Operator, RoleName
from tasks import saying
from tasks.db import sessions
from tasks.models import AuditEntry, Notification
from tasks.saying import language
from tasks.storage import make_storage
from tests.dashboard.conftest import Browser
from tests.support.twins import twin
from tests.support.unmarked import Pseudo, of_module, of_template, unmarked

#: Nouns whose words are still to be marked; it is to stay empty.
UNFINISHED: Final[frozenset[str]] = frozenset()
#: What the rows of the test say, and names that are the same in every language.
_SAID: Final = """
    Carillon English Français UTC Europe Berlin St Same admin example org st mary
    agents operator system harmless Welcome Reminder Site View Website Bookings Noémie
    Kirchplatz kirchplatz Ines ines joerg Seen No route to Refused Hello guest name
    default there rue de église Board Validator en Harmless roster pdf PDF CSV JSON
    GeoJSON POST Python Node python node package alone webhook id https hook Cal com
    Calendly confirmed booking show Name ours csv carillon BAN
"""
#: What the addresses of pages name besides rows of the test.
OTHERS: Final = {"list_name": "executions", "name": "executions", "verb": "pause"}
#: Addresses that are no page, or none for who is logged in.
NOT_PAGES: Final = {
    "healthz",
    "security.login",
    "security.verify",
    "setup.show",
}
#: Blueprints that are none of pages.
NO_PAGES: Final = {"api", "cron", "openapi", "static", "styleguide"}
#: What may lead on to another page.
_LEAD_ON: Final = ("/edit", "/new", "/rows")
_IDS: Final = re.compile(r"\b[0-9a-f]{8}\b(-[0-9a-f-]+)?|…\w{4}\b")
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")
DATA: Final = frozenset(_LETTERS.findall(_SAID))
#: Whoever reads this is a program, or has no language: it stays English.
FOR_PROGRAMS: Final = (
    "dashboard/api/",
    "dashboard/cli/",
    "dashboard/demo/",
    # what producers report, and booking services
    "tasks/automation/booking",
    "tasks/automation/checks.py",
    "tasks/automation/episode",
    "tasks/automation/payloads.py",
    "tasks/automation/references.py",
    "tasks/automation/rows.py",
    "tasks/automation/scheduler.py",
    "tasks/congregation/notifications/news.py",
    "tasks/sources/reading.py",
    # errors that are kept with attempts
    "tasks/outbound/",
    "tasks/secrets.py",
)


@cache
def _dates() -> frozenset[str]:
    names: list[str] = []
    for width in ("wide", "abbreviated"):
        names += get_month_names(width, locale="fr").values()
        names += get_day_names(width, locale="fr").values()
    return frozenset(_LETTERS.findall(" ".join([*names, "er"])))


def _paths(app: Flask, ids: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield every page of the console, by its endpoint."""
    urls = app.url_map.bind("localhost")
    for route in app.url_map.iter_rules():
        is_page = "GET" in (route.methods or ()) and route.endpoint not in NOT_PAGES
        if not is_page or NO_PAGES & set(route.endpoint.split(".")):
            continue
        if route.arguments <= ids.keys():
            values = {name: ids[name] for name in route.arguments}
            yield route.endpoint, urls.build(route.endpoint, values, "GET")


def _forgotten(page: str, *, whole: bool) -> Iterator[str]:
    """Yield what nobody has marked; what is around a page is read with one only."""
    known = _dates() | DATA
    title = page[page.find("<title>") : page.find("</title>")]
    part = title + page[page.find("<main") :].partition("</main>")[0]
    for piece in unmarked(page if whole or "<main" not in page else part):
        if set(_LETTERS.findall(_IDS.sub("", piece))) - known:
            yield piece


def _stored(session: Session) -> set[str]:
    """Return what has its words elsewhere.

    The audit log's stay as they were written; mails have catalogs of their own, and
    pages show what they say.
    """
    found: set[str] = set()
    with saying.in_language("fr"):
        for one in session.scalars(select(Notification)):
            found.add(Item(one, "").sentence)
    for entry in session.scalars(select(AuditEntry)):
        found.add(entry.summary)
        for values in (entry.before, entry.after):
            for name, value in (values or {}).items():
                found |= {name, str(value), pretty(value)}
    return found


@pytest.fixture
def pseudo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every text of the catalogs say that it is one."""
    made = {"fr": Pseudo(), "en": NullTranslations()}
    for module in (saying, languages, template_words):
        monkeypatch.setattr(module, "catalog", made.__getitem__)
    # What templates said before is kept, as what they say here is not to be.
    kept = (template_words._said, template_words._plain)
    for words in kept:
        words.cache_clear()
    yield
    for words in kept:
        words.cache_clear()


def test_pages_say_nothing_that_no_catalog_knows(
    app: Flask,
    sqlite_engine: Engine,
    log_in: Callable[..., Browser],
    pseudo: None,
) -> None:
    with sessions(sqlite_engine).begin() as session:
        ours = twin(session, "ours", "harmless", make_storage(app.config["CARILLON"]))
    browser = log_in(RoleName.ADMIN)
    with Session(sqlite_engine) as session, session.begin():
        session.execute(update(Operator).values(language="fr"))
        stored = _stored(session)
    found = {}
    for endpoint, path in _paths(app, ours.ids | OTHERS):
        answer = browser.get(path)
        # What cannot be edited any more leads to its own page, a view to its list.
        is_back = answer.status_code in {302, 303} and path.endswith(_LEAD_ON)
        assert answer.status_code == 200 or is_back, path
        if answer.mimetype == "text/html" and not is_back:
            is_first = endpoint == "overview.index"
            left = set(_forgotten(answer.get_data(as_text=True), whole=is_first))
            if left := left - stored:
                found[endpoint] = left
    assert found == {}


def _noun(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[1] if len(parts) > 2 else "common"


def test_templates_hold_no_text_that_is_not_marked() -> None:
    found = {}
    for path in sorted((ROOT / "templates").rglob("*.html")):
        if _noun(path) in UNFINISHED | NO_PAGES:
            continue
        left = {
            piece
            for piece in of_template(path.read_text(encoding="utf-8"))
            if set(_LETTERS.findall(piece)) - DATA
        }
        if left:
            found[str(path.relative_to(ROOT))] = left

    assert found == {}


def test_modules_tell_people_nothing_that_is_not_marked() -> None:
    found = {}
    for folder in ("dashboard", "tasks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = str(path.relative_to(ROOT))
            if _noun(path) in UNFINISHED or place.startswith(FOR_PROGRAMS):
                continue
            if left := set(of_module(path.read_text(encoding="utf-8"))):
                found[place] = left

    assert found == {}


def test_what_nobody_has_marked_is_found() -> None:
    page = (
        '<th title="Made">⟦State⟧</th><p>⟦Held by ⟦x⟧ <a>now</a>⟧ and more</p>'
        "<pre>code</pre>"
    )
    template = '<h2>Facts</h2>{{ empty("Nothing yet", _("Not yet")) }}{{ _("Yes") }}'
    module = (
        'flash("It is done.")\nInvalidInput("code", f"At most {n} rows.")\n'
        'flash(say("It is done."))\nStringField("name")'
    )

    assert list(unmarked(page)) == ["and more", "Made"]
    assert list(of_template(template)) == ["Facts", "Nothing yet"]
    assert list(of_module(module)) == ["It is done.", "At most … rows."]


def test_times_and_sizes_are_written_as_in_french() -> None:
    first = datetime(2026, 3, 1, 12, tzinfo=UTC)
    token = language.set("fr")
    try:
        said = [
            filters.absolute(first),
            filters.shortly(first + timedelta(days=9)),
            filters.day(first.date()),
            filters.relative(first, first + timedelta(minutes=3)),
            filters.relative(first + timedelta(hours=2), first),
            filters.duration(timedelta(days=1, hours=2)),
            filters.size(1_250_000),
        ]
    finally:
        language.reset(token)

    assert said == [
        "dim. 1er mars 2026, 12:00:00 UTC",
        "10 mars, 12:00",
        "1er mars 2026",
        "il y a 3\xa0min",
        "dans 2\xa0h",
        "1\xa0j 2\xa0h",
        "1,2\xa0Mo",
    ]


def test_who_is_not_logged_in_reads_the_language_of_the_browser(
    client: Browser,
) -> None:
    headers = {"Accept-Language": "fr-FR,fr;q=0.9"}

    assert "Se connecter" in client.get("/login", headers=headers).text
    assert "Rien ici" in client.get("/nowhere", headers=headers).text
    assert "Rechargez la page" in client.post("/login", headers=headers).text
    # Programs read English, whatever they say they like.
    assert "There is nothing" in client.get("/api/v1/nowhere", headers=headers).text


def test_forms_and_the_login_extension_speak_french(
    sqlite_engine: Engine, as_viewer: Browser
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.execute(update(Operator).values(language="fr"))
    words = {"new_password": "three bells", "new_password_confirm": "two bells"}
    answer = as_viewer.post("/account/password", data=words)
    token = language.set("fr")
    try:
        said = [
            languages.FormWords().gettext("Not a valid choice."),
            languages.FormWords().ngettext(
                "Field cannot be longer than %(max)d character.",
                "Field cannot be longer than %(max)d characters.",
                3,
            ),
        ]
    finally:
        language.reset(token)

    assert "Les mots de passe diffèrent" in answer.text
    assert said == [
        "N’est pas un choix valide.",
        "Le champ ne peut pas contenir plus de %(max)d caractères.",
    ]


def test_filters_read_times_by_the_operators_clock(app: Flask) -> None:
    with app.test_request_context("/executions/?since=2026-03-10T12:00"):
        g.own_zone = ZoneInfo("Europe/Berlin")
        since = ExecutionFilter.read(NO_CHOICES).since

        assert since.data == datetime(2026, 3, 10, 11, tzinfo=UTC)
        assert 'value="2026-03-10T12:00"' in since()
        assert str(since.label.text) == "From (Europe/Berlin)"
