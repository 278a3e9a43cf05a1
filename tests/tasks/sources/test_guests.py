"""Whom the rows of a list of guests mean, on both databases."""

from __future__ import annotations

import pytest

from tasks.automation.episodes import save_guest
from tasks.db import Begin
from tasks.sources.guest_tables import GuestRow
from tasks.sources.guests import LineOutcome, carry_out, plan
from tests.support import factories


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ("Ada@example.org", "ADA@Example.ORG"),
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
        ("ada@bücher.example", "Ada@BÜCHER.example"),
        ("Jörg@example.org", "jörg@example.org"),
        ("JÖRG@example.org", "jörg@example.org"),
        ("jörg@example.org", "JÖRG@example.org"),
        ("jörg@example.org", "jo\u0308rg@example.org"),
    ],
)
def test_an_address_in_another_spelling_is_the_same_guest(
    begin: Begin, known: str, told: str
) -> None:
    with begin() as session:
        here = factories.congregation(session)
        save_guest(session, here, "g", podcast_id="show", name="A", email=known)
        rows = [GuestRow(2, {"name": "Ada", "email": told})]
        (line,) = plan(session, here, "show", rows, merge=True)

    assert (line.outcome, line.guest_id) == (LineOutcome.CHANGED, "g")


def test_two_spellings_in_one_list_are_one_guest(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        rows = [
            GuestRow(2, {"name": "Ada", "email": "ada@bücher.example"}),
            GuestRow(3, {"name": "Ada", "email": "ada@xn--bcher-kva.example"}),
        ]
        first, second = plan(session, here, "show", rows, merge=True)
        carry_out(session, here, "show", [first])
        (again,) = plan(session, here, "show", rows[1:], merge=True)

    assert (first.outcome, second.outcome) == (LineOutcome.NEW, LineOutcome.REFUSED)
    assert "line 2" in second.sentence
    assert again.outcome is LineOutcome.SAME


def test_what_is_no_address_is_refused_with_its_row(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        rows = [GuestRow(2, {"name": "Ada", "email": "jörg@"})]
        (line,) = plan(session, here, "show", rows, merge=True)

    assert line.outcome is LineOutcome.REFUSED
    assert "email" in line.sentence
