"""Real files of one commune: the same addresses in the layouts that are published."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tasks.models import Address, AddressArea
from tasks.models.long_job import LongJobState
from tests.tasks.congregation.addresses.conftest import Desk

FOLDER = Path(__file__).parents[3] / "samples" / "addresses"
OLDER_BAN = "ban-54084-older-layout.csv"
BAN = "ban-layout-current-54084.csv"
BANO = "bano-layout-54084.csv"
BAL = "bal-54084.csv"
#: The three that were made of one; 501 rows each, of which eleven come twice.
OF_ONE = (OLDER_BAN, BAN, BANO)
N_ADDRESSES = 490


@pytest.fixture
def town(desk: Desk) -> Desk:
    """Return a desk of a congregation that wants the commune of the files."""
    with desk.make_session.begin() as session:
        area = session.get_one(AddressArea, desk.of)
        area.postcodes, area.communes = ["54111"], ["54084"]
    return desk


def read(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def place(row: Address) -> tuple[float, float]:
    assert row.lat is not None
    assert row.lon is not None
    return round(row.lat, 4), round(row.lon, 4)


def test_every_file_is_tried() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*OF_ONE, BAL}


@pytest.mark.parametrize("name", OF_ONE)
def test_each_layout_gives_every_address_at_its_place(town: Desk, name: str) -> None:
    sync = town.sync(read(name))
    assert sync.state is LongJobState.DONE, sync.error
    told = ("read", "matched", "created", "duplicates", "rejected", "outside")
    assert [sync.report[each] for each in told] == [501, 490, 490, 11, 0, 0]
    rows = {row.key: row for row in town.addresses}
    assert len(rows) == N_ADDRESSES
    (row,) = (rows[key] for key in rows if key.endswith("allee des acacias 00018"))
    assert (row.number, row.postcode, row.city) == ("18", "54111", "Mont-Bonvillers")
    assert place(row) == (49.3246, 5.8330)
    assert (row.street or "").casefold() == "allée des acacias"


def test_the_layouts_agree_and_packing_makes_no_difference(town: Desk) -> None:
    town.sync(read(OLDER_BAN))
    keys = town.keys
    for data in (read(BAN), read(BANO), gzip.compress(read(OLDER_BAN))):
        later = town.sync(data)
        told = ("matched", "created", "missing", "found_again")
        assert [later.report[each] for each in told] == [490, 0, 0, 0]
        assert town.keys == keys


def test_the_communes_own_file_is_another_source(town: Desk) -> None:
    """It names no postal codes; some streets are spelt in another way.

    Those that both files give one id are renamed, the others new and missing.
    """
    town.sync(read(BAN))
    sync = town.sync(read(BAL))
    assert sync.state is LongJobState.DONE, sync.error
    assert [file["layout"] for file in sync.report["files"]] == ["BAL"]
    told = ("read", "matched", "renamed", "created", "missing", "rejected")
    assert [sync.report[each] for each in told] == [486, 486, 41, 50, 54, 0]
    assert sum(row.missing_since is not None for row in town.addresses) == 54
