"""Files of contacts: read whatever wrote them, foretold as they are then taken over."""

from __future__ import annotations

import operator
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import sessions
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.lanes import janitor
from tasks.models import Contact, ContactDraft, ContactImport, ContactImportLines
from tasks.operations.audit import SYSTEM
from tasks.outreach import drafts
from tasks.outreach.contact_files import ContactFile
from tasks.outreach.import_rows import How
from tasks.outreach.previewing import Fate, Preview, preview
from tasks.outreach.reading_csv import read_csv
from tasks.outreach.reading_entries import read_entries
from tasks.saying import language, say
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.outreach import AGENT, engagement

Sessions = sessionmaker[Session]

#: Every fate, with and without merging, with and without an agent.
ENTRIES: list[Any] = [
    {"address": "known@example.org", "display_name": "Other", "metadata": {"a": 2}},
    {"address": "same@example.org", "display_name": "", "stage": "new"},
    {"address": "alone@example.org"},
    {"address": "NEW@example.org", "next_action_at": "2026-05-01T10:00:00+02:00"},
    {"address": "new@example.org"},
    {"address": "late@example.org", "next_action_at": "tomorrow"},
    {"address": "late@example.org"},
    {"address": "zone@example.org", "next_action_at": "2026-05-01T10:00"},
    {"address": 7},
    {"address": "odd@example.org", "colour": "red"},
    "text",
]


def _read(text: str, encoding: str = "utf-8") -> ContactFile:
    return read_csv(text.encode(encoding))


@pytest.mark.parametrize(
    ("data", "told_as"),
    [
        ("﻿E-Mail;Name\nzoe@example.org;Zoë".encode(), "UTF-8, columns separated by s"),
        ("Name,E-mail\r\nZoë,zoe@example.org\r\n".encode(), "UTF-8, columns separated"),
        ("courriel\tnom\nzoe@example.org\tZoë".encode("cp1252"), "Windows-1252"),
        ("Nom\tCourriel\nZoë\tzoe@example.org".encode("utf-16"), "UTF-16"),
        ('\n\n"NAME","Email Address"\n\n"Zoë","zoe@example.org"\n'.encode(), "UTF-8"),
    ],
)
def test_files_are_read_as_programs_write_them(data: bytes, told_as: str) -> None:
    file = read_csv(data)
    assert file.told_as.startswith(told_as)
    (row,) = file.rows
    assert row.values == {"address": "zoe@example.org", "display_name": "Zoë"}
    assert ContactFile.of_json(file.as_json()) == file


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"),
        (b" \r\n ", "is empty"),
        (b"name,age\nZoe,3", "it has “name”, “age”."),
        (b"email|name\na@b.org|A", "not by “|”"),
        (b"email\n", "holds no contacts"),
        (b'email,name\na@b.org,"A\nb@b.org,B', "quotation mark that is never closed"),
        (b'email,name\na@b.org,"A" B\n', "Line 2 has text after a closing quotation"),
        (b"email,name\na@b.org,A\nb@b.org,\x81\x8d", "Line 3 holds bytes"),
        (b"PK\x03\x04rest", "This is a workbook"),
        (b"email\na\x00b", "no text file"),
        (b"a" * 5_000_001, "larger than 5 MB"),
        (b"email\n" + b"a@b.org\n" * 20_001, "more than 20\u202f000 contacts"),
        (b"email," + b"x," * 100, "more than 100 columns"),
        (b"email\n" + b"x" * 200_000, "Line 2 cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(data: bytes, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_csv(data)
    assert sentence in refused.value.message
    assert refused.value.field == "file"


def test_places_are_lines_of_the_file_however_long_a_cell_is() -> None:
    file = _read('email,name\n\na@b.org,"A\nB"\nb@b.org,B,extra\nb@b.org,B, \n')
    assert [row.place for row in file.rows] == [3, 5, 6]
    trouble = say(file.rows[1].trouble, **file.rows[1].numbers)
    assert "It has 3 cells" in trouble
    assert not file.rows[2].trouble


def _world(make_session: Sessions) -> UUID:
    with make_session.begin() as session:
        of = factories.congregation(session)
        engagement(session, of, "known@example.org", stage="old")
        engagement(session, of, "same@example.org", stage="new")
        of_other = factories.congregation(session, "other")
        engagement(session, of_other, "new@example.org")
        _take(session, _wait(session, of, _read("email\nalone@example.org")), How())
    return of


def _wait(session: Session, of: UUID, file: ContactFile) -> UUID:
    return drafts.upload(session, of, "a.json", file, SYSTEM, now=NOW).id


def _take(session: Session, waits: UUID, how: How) -> ContactImport:
    checked = drafts.check_draft(drafts.get_draft(session, waits), how)
    return drafts.take_draft(session, checked, SYSTEM)


def _told(found: Preview) -> dict[int, Fate]:
    return {row.place: row.fate for row in found.rows}


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("agent", [AGENT, "other@agents.example.org", None])
def test_what_is_foretold_is_what_becomes_of_each_row(
    make_session: Sessions, merge: bool, agent: str | None
) -> None:
    of = _world(make_session)
    how, file = How(merge, agent), read_entries(ENTRIES)
    with make_session.begin() as session:
        waits = _wait(session, of, file)
        before = session.scalar(select(func.count()).select_from(Contact))
        foretold = preview(session, of, file, how)
        assert session.scalar(select(func.count()).select_from(Contact)) == before
    with make_session.begin() as session:
        done = _take(session, waits, how)
        kept = drafts.lines_of(session, done.id)
    assert kept is not None
    unit, lines = kept
    assert unit == "Entry"
    assert {line.place: line.fate for line in lines} == _told(foretold)
    n_new = foretold.counts[Fate.NEW]
    with make_session() as session:
        n_after = session.scalar(select(func.count()).select_from(Contact)) or 0
    assert n_after == (before or 0) + n_new


def test_each_row_has_its_fate_and_its_sentence(make_session: Sessions) -> None:
    of = _world(make_session)
    with make_session() as session:
        found = preview(session, of, read_entries(ENTRIES), How(True, AGENT))
    assert " ".join(_told(found).values()) == (
        "changed same changed new twice wrong new wrong wrong wrong wrong"
    )
    said = {row.place: row.sentence for row in found.rows}
    assert said[1] == "Another name, metadata."
    assert said[3] == "It is enrolled."
    assert said[5] == "Entry 5: The same address as in entry 4, which counts."
    assert "must be a date and time" in said[6]
    assert "must say its offset" in said[8]
    assert "no field 'colour'" in said[10]
    assert said[11] == "Entry 11: It must be an object with an address."
    assert found.n_written == 4


def test_rows_are_foretold_in_ones_own_language_and_kept_in_english(
    sqlite_engine: Engine,
) -> None:
    token = language.set("fr")
    try:
        with sessions(sqlite_engine).begin() as session:
            of = factories.congregation(session)
            waits = _wait(session, of, _read("email\na@example.org\na@b.org,extra"))
            file = ContactFile.of_json(drafts.get_draft(session, waits).content)
            found = preview(session, of, file, How())
            done = _take(session, waits, How())
            kept = drafts.lines_of(session, done.id)
    finally:
        language.reset(token)
    assert found.rows[1].sentence.startswith("Ligne 3\u00a0: Elle compte 2 cellules")
    assert kept
    assert kept[1][1].sentence.startswith("Line 3: It has 2 cells")


def test_a_list_is_taken_once_and_only_if_a_row_is_good(make_session: Sessions) -> None:
    of = _world(make_session)
    with make_session.begin() as session:
        good = _wait(session, of, _read("email\na@example.org"))
        bad = _wait(session, of, _read("email\nnobody"))
        done = _take(session, good, How())
        assert (done.id, done.counts) == (good, {"created": 1})
        with pytest.raises(NotFound, match="is gone"):
            _take(session, good, How())
        with pytest.raises(Conflict, match="No row"):
            _take(session, bad, How())
        drafts.discard_draft(session, bad)
        with pytest.raises(NotFound):
            drafts.get_draft(session, bad)


def test_the_janitor_removes_lists_that_nobody_took_and_old_results(
    make_session: Sessions,
) -> None:
    of = _world(make_session)
    with make_session.begin() as session:
        _wait(session, of, _read("email\na@example.org"))
        session.scalars(select(ContactImportLines)).one().created_at = NOW
    for days, n_lists, n_lines in ((0.9, 1, 1), (1.1, 0, 1), (31, 0, 0)):
        then = partial(operator.add, NOW, timedelta(days=days))
        janitor.sweep(bench(make_session, then, FakePost()), 100)
        with make_session() as session:
            assert len(session.scalars(select(ContactDraft)).all()) == n_lists
            assert len(session.scalars(select(ContactImportLines)).all()) == n_lines
