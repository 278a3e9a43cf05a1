"""The catalogs: whatever is said in English can be said in every other language."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from babel.messages.catalog import Catalog, Message

from dashboard import ROOT
from dashboard.cli.catalogs import key_in, key_of, read, said_in
from dashboard.cli.marked import Text, in_python, in_template, nouns
from tasks.saying import LANGUAGES, language, later, meant, say, say_many

OTHERS: Final = list(LANGUAGES)[1:]


def files_of(sign: str) -> list[Path]:
    return sorted((ROOT / "tasks/saying/locale" / sign).glob("*.po"))


def messages(sign: str) -> dict[str, Message]:
    catalogs: list[Catalog] = [read(path, sign) for path in files_of(sign)]
    return {key_in(one): one for each in catalogs for one in each if one.id}


def values_in(text: str) -> Counter[str]:
    """Return the values that a text names, and the elements that it opens and ends."""
    return Counter(re.findall(r"%\((\w+)\)s|</?\w+|%%", text))


@pytest.fixture(scope="module")
def marked() -> dict[str, set[Text]]:
    return nouns(ROOT)


@pytest.mark.parametrize("sign", OTHERS)
def test_every_text_is_translated(sign: str, marked: dict[str, set[Text]]) -> None:
    known = messages(sign)
    missing = {
        f"{noun}: {text}"
        for noun, texts in marked.items()
        for text in texts
        if key_of(text) not in known or not said_in(known[key_of(text)].string)
    }

    assert missing == set()


@pytest.mark.parametrize("sign", OTHERS)
def test_nothing_is_translated_that_nobody_says(
    sign: str, marked: dict[str, set[Text]]
) -> None:
    said = {key_of(text) for texts in marked.values() for text in texts}

    assert set(messages(sign)) - said == set()


@pytest.mark.parametrize("sign", OTHERS)
def test_each_text_is_translated_once(sign: str) -> None:
    times = Counter(
        key_in(one) for path in files_of(sign) for one in read(path, sign) if one.id
    )

    assert {text for text, n in times.items() if n > 1} == set()


@pytest.mark.parametrize("sign", OTHERS)
def test_translations_have_the_same_values_and_elements(sign: str) -> None:
    wrong = {
        key: string
        for key, message in messages(sign).items()
        for string in (
            message.string if isinstance(message.string, tuple) else [message.string]
        )
        if isinstance(message.id, str) and values_in(key) != values_in(string)
    }

    assert wrong == {}


def test_french_keeps_its_signs_on_the_line_of_the_word_before() -> None:
    loose = {
        string
        for message in messages("fr").values()
        for string in (
            message.string if isinstance(message.string, tuple) else [message.string]
        )
        if re.search(r"(?<=[\w»)]) [;:?!»]|« |(?<=\d) (?=\d{3})", string)
    }

    assert loose == set()


def test_marked_texts_are_found_in_modules_and_templates() -> None:
    module = (
        'say("One")\nmark("Two")\nx = later("Three")\nsay_many(n, "a", "b")\n'
        'later(meant("a mail", "One"))'
    )
    page = (
        '{{ _("One") }}{% trans n=3 %}{{ n }} row{% pluralize %}{{ n }} rows'
        '{% endtrans %}{{ n | plural("rule") }}{{ empty(_("Nothing"), "x") }}'
        '{{ say(meant("a rule", "One")) }}'
    )

    assert in_python(module) == {
        "One",
        "Two",
        "Three",
        ("a", "b"),
        meant("a mail", "One"),
    }
    assert in_template(page) == {
        "One",
        "Nothing",
        ("%(n)s row", "%(n)s rows"),
        ("rule", "rules"),
        meant("a rule", "One"),
    }


@pytest.mark.parametrize("page", ["{{ _(name) }}", "{{ _(a ~ 'b') }}"])
def test_the_mark_of_templates_takes_no_values(page: str) -> None:
    with pytest.raises(ValueError, match="written out"):
        in_template(page)


def test_one_english_word_is_said_in_two_ways_where_it_means_two_things() -> None:
    of_a_range, of_a_version = meant("a time", "From"), "From"
    in_english = say(of_a_range), str(later(of_a_range))
    token = language.set("fr")
    try:
        in_french = say(of_a_range), say(of_a_version)
        unknown = say(meant("nothing of ours", "Nobody translated this."))
    finally:
        language.reset(token)

    assert in_english == ("From", "From")
    assert in_french == ("Du", "De")
    assert unknown == "Nobody translated this."


def test_texts_are_said_in_the_language_that_is_set() -> None:
    label = later("Your account")
    before = str(label)
    token = language.set("fr")
    try:
        assert str(label) == "Votre compte"
        assert say("Pages show times in %(zone)s now.", zone="UTC").endswith("UTC.")
        assert say_many(0, "attempt", "attempts") == "tentative"
    finally:
        language.reset(token)

    assert (before, say_many(0, "attempt", "attempts")) == ("Your account", "attempts")
