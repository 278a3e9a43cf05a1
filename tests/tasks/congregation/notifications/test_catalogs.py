"""The catalogs: every text in every language, with the same values."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from tasks.congregation.notifications import words
from tasks.congregation.notifications.kinds import KINDS
from tasks.congregation.notifications.words import LOCALES, Words, catalog

FOLDER = Path(words.__file__).parent
KEYWORDS = {"said": None, "said_many": (1, 2)}
#: What the entities' readers give.
FACTS = {
    "attribution": {"territory", "due"},
    "document": {"title"},
    "member": {"member"},
}
Text = str | tuple[str, ...]


def marked() -> set[Text]:
    """Return every text that the code marks; those with a number come in pairs."""
    found: set[Text] = set()
    for _, _, message, _, _ in extract_from_dir(
        FOLDER, [("**.py", "python")], keywords=KEYWORDS
    ):
        found.add(message if isinstance(message, str) else tuple(message))
    return found


def values(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("locale", LOCALES[1:])
def test_a_catalog_has_every_text_and_no_others_with_the_same_values(
    locale: str,
) -> None:
    with (FOLDER / "locale" / f"{locale}.po").open("rb") as file:
        made = read_po(file, locale=locale, abort_invalid=True)
    ids = {each.id for each in made if each.id}
    assert ids == marked()
    assert len(ids) > 50
    for each in made:
        if not each.id:
            continue
        assert not each.fuzzy, each.id
        wanted = values(each.id if isinstance(each.id, str) else each.id[1])
        texts = [each.string] if isinstance(each.string, str) else each.string
        for text in texts:
            assert text.strip(), each.id
            assert values(text) == wanted, each.id


def test_every_language_has_its_file_and_every_file_its_language() -> None:
    names = {path.stem for path in (FOLDER / "locale").glob("*.po")}
    assert names == set(LOCALES[1:])
    for locale in LOCALES:
        assert catalog(locale).gettext("Hello,")


def test_texts_want_no_values_but_those_that_their_type_gives() -> None:
    for kind in KINDS.values():
        given = kind.fields.keys() | FACTS.get(kind.entity, set())
        for text in (kind.subject, kind.line):
            assert values(text) <= given, kind.type
        assert not values(kind.heading)


def test_every_text_is_written_in_every_language() -> None:
    plain = {text for text in marked() if isinstance(text, str)}
    for locale in LOCALES:
        say = Words.of(locale, "Europe/Paris")
        for text in plain:
            given = dict.fromkeys(values(text), 1200)
            assert "{" not in say.say(text, given)
        assert say.count(("… and {n} more.", "… and {n} more."), 2)
    assert Words.of("de", "UTC").locale == "en"
    assert Words.of("fr", "UTC").say("{x}", {"x": 1_200}) == "1\N{NNBSP}200"


def test_values_are_written_as_the_recipient_reads_them() -> None:
    instant = datetime(2026, 3, 10, 23, 30, tzinfo=UTC)
    french, english = Words.of("fr", "Europe/Paris"), Words.of("en", "UTC")
    assert french.say("{x}", {"x": instant}).startswith("11 mars 2026")
    assert english.say("{x}", {"x": instant.date()}) == "March 10, 2026"
    assert english.say("{x}", {"x": " two\n lines "}) == "two lines"
    assert french.count(("… and {n} more.", "… and {n} more."), 1) == "… et 1 autre."
