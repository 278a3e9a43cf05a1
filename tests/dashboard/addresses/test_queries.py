"""What the pages of addresses read gives the same on both databases."""

from __future__ import annotations

from sqlalchemy import Engine

from dashboard.addresses import queries
from dashboard.paging import Page
from tasks.db import Begin, CongregationSession, set_scope
from tasks.search.addresses import ADDRESSES
from tasks.search.plain import plain_conditions
from tests.support import address_rows, factories


def _numbers(page: Page) -> list[str]:  # type: ignore[type-arg]
    return [row[0].number for row in page.rows]


def test_lists_go_by_commune_street_and_number_and_stay_in_their_scope(
    engine: Engine, begin: Begin
) -> None:
    with begin() as session:
        ours, theirs = (factories.congregation(session, slug) for slug in "ab")
        for of in (ours, theirs):
            for n in (10, 9, 1):
                address_rows.address(
                    session, of, key=f"54998 rue du puits {n:05d}", number=str(n)
                )
        key = "54998 rue du 8 mai 00003"
        address_rows.address(session, theirs, key=key, number="3")
        key = "54999 rue du 8 mai 00003"
        address_rows.address(session, ours, key=key, number="3")
    with CongregationSession(engine) as session:
        set_scope(session, frozenset({ours}))
        words = plain_conditions(ADDRESSES, "", "puits 54999 clochers")
        first = queries.addresses(session, words, None, 2)
        after = queries.addresses(session, [], first.next_cursor, 2)
        back = queries.addresses(session, [], after.previous_cursor, 2)
        missing = plain_conditions(ADDRESSES, "state:missing", "")
        found = queries.addresses(session, missing, None, 2)
        rue = plain_conditions(ADDRESSES, "", "8 mai")
        named = queries.addresses(session, rue, None, 2)
        assert queries.n_missing(session) == 0
        assert queries.last_syncs(session, 1) == []
        assert [row[0].id for row in queries.areas(session, 9)] == [ours]
    assert _numbers(named) == ["3"]
    assert [_numbers(page) for page in (first, after, back, found)] == [
        ["1", "9"],
        ["10", "3"],
        ["1", "9"],
        [],
    ]
