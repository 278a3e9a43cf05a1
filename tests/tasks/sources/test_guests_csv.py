"""Lists of guests are read whatever program wrote them."""

from __future__ import annotations

import pytest

from tasks.errors import InvalidInput
from tasks.sources.guest_tables import GuestTable
from tasks.sources.guests_csv import BYTES_MAX, ROWS_MAX, read_guests

GERMAN = "Vorname;Name;E-Mail\r\nZoë;Müller;zoe@example.org\r\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
def test_every_common_encoding_is_understood(encoding: str) -> None:
    [row] = read_guests(GERMAN.encode(encoding)).rows
    assert row.values == {"name": "Zoë Müller", "email": "zoe@example.org"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_every_common_separator_is_understood(delimiter: str) -> None:
    lines = [["Name", "E-mail"], ['"Lee, Ada; jr"', "ada@example.org"]]
    data = "\n".join(delimiter.join(line) for line in lines).encode()
    assert read_guests(data).rows[0].values["name"] == "Lee, Ada; jr"


@pytest.mark.parametrize(
    "header",
    [
        "Name,Email",
        "Full name,E-mail address",
        "Nom complet,Adresse e-mail",
        "Invité,Courriel",
        "NOM,Mail",
        "Gast,E-Mail-Adresse",
    ],
)
def test_columns_are_known_by_their_names(header: str) -> None:
    [row] = read_guests(f"{header}\nAda,ada@example.org".encode()).rows
    assert row.values == {"name": "Ada", "email": "ada@example.org"}


def test_a_first_and_a_last_name_become_one() -> None:
    [row] = read_guests("Prénom;Nom;Courriel\nZoë;Lee;z@example.org".encode()).rows
    assert row.values["name"] == "Zoë Lee"


def test_columns_that_mean_nothing_to_us_are_told() -> None:
    table = read_guests(b"Name,Shoe size,Email,Mail\nAda,39,a@example.org,b@b.org")
    assert [field for _, field in table.columns] == ["name", "", "email", ""]
    assert table.rows[0].values["email"] == "a@example.org"


def test_rows_know_their_lines_also_after_a_text_of_several_lines() -> None:
    table = read_guests(b'Name,Email\n"Ada\nLee",a@example.org\n\nBo,b@example.org\n')
    assert [row.line for row in table.rows] == [2, 5]


def test_what_is_stored_comes_back_as_it_was() -> None:
    table = read_guests(f"{GERMAN}Ida;Lee;ida@example.org;x\r\n".encode())
    assert table.rows[1].trouble
    again = GuestTable.of_json(table.as_json())
    assert (list(again.columns), list(again.rows)) == (table.columns, table.rows)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n \n", "empty"),
        (b"Name,Email\n", "no guests"),
        (b"Email,Phone\na@example.org,1", "No column holds the names"),
        (b"a@example.org\nb@example.org", "No column holds the names"),
        (b"PK\x03\x04" + b"\x00\x01\xff" * 40, "workbook"),
        (b"Name\nA\x00b", "no CSV file"),
        (b'Name\n"' + b"x" * 200_000, "more than 131\u202f072 characters"),
        (b'Name,Notes\nAda,"kind\nBo,\nIda,', "never closed"),
        (b'Name,Notes\nAda,"kind" x', "after a closing quotation mark"),
        (b"Name" + b"," * 100, "more than 100 columns"),
        (b"x" * (BYTES_MAX + 1), "larger than 5 MB"),
        (b"Name\n" + b"x\n" * (ROWS_MAX + 1), "more than 5\u202f000 guests"),
    ],
)
def test_a_file_that_is_no_list_is_refused_with_a_sentence(
    data: bytes, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_guests(data)
