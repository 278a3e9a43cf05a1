"""Sentences that rows keep: English in the row, any language on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tasks.congregation.transfer.refusing import size_words
from tasks.congregation.transfer.report import Report
from tasks.saying import language
from tasks.saying.kept import kept, said_of, told


@pytest.fixture
def french() -> Iterator[None]:
    token = language.set("fr")
    yield
    language.reset(token)


def test_a_report_is_kept_in_english_and_told_in_french(french: None) -> None:
    report = Report()
    report.problem(
        "members.ndjson", 3, "id", kept("is that of line %(line)s already", line="1")
    )
    report.warn("The archive has no files, so no documents come in.")
    report.leave("files", kept("the storage does not have the file any more."))
    found = json.loads(json.dumps(report.as_json()))

    (problem,) = found["problems"]
    assert problem["sentence"] == "is that of line 1 already"
    assert told(problem["sentence"], problem["said"]) == "est déjà celui de la ligne 1"
    assert found["warnings"] == [
        "The archive has no files, so no documents come in.",
        "1 of “files” left out: the storage does not have the file any more.",
    ]
    pairs = zip(found["warnings"], found["warnings_said"], strict=True)
    assert [told(*each) for each in pairs] == [
        "L’archive ne contient pas de fichiers, donc aucun document n’est importé.",
        "1 de «\N{NO-BREAK SPACE}files\N{NO-BREAK SPACE}» laissés de côté"
        "\N{NO-BREAK SPACE}: le stockage n’a plus le fichier.",
    ]


def test_a_value_that_is_a_sentence_itself_is_said_as_well(french: None) -> None:
    text = "The archive unpacks to %(size)s; %(max)s are allowed."
    sentence = kept(text, size=size_words(7_000_000_000), max=size_words(6_000_000))

    assert sentence == "The archive unpacks to 7 GB; 6 MB are allowed."
    assert "7 Go" in told(sentence, said_of(sentence))


def test_what_nobody_marked_stays_as_it_was_kept(french: None) -> None:
    assert said_of("rm -rf: 100% sure") is None
    assert told("rm -rf: 100% sure", None) == "rm -rf: 100% sure"
