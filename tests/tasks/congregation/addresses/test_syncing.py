"""A sync: what is read becomes what is so, or nothing changes and it says why."""

from __future__ import annotations

import gzip

from tasks.models import AddressArea, Sync
from tasks.models.long_job import LongJobState
from tests.support.address_rows import Door, bal, ban, bano, older_ban, street
from tests.tasks.congregation.addresses.conftest import Desk

DOORS = [
    *street(12),
    Door("3", "bis"),
    Door("3", "a"),
    Door("14", street="Allée Jeanne-d'Arc"),
    Door("5120", street="La Vigne"),
]
FAILED, DONE = LongJobState.FAILED, LongJobState.DONE


def counts(sync: Sync) -> dict[str, int]:
    names = ("created", "updated", "renamed", "found_again", "missing", "rejected")
    return {name: sync.report[name] for name in names if sync.report[name]}


def test_every_layout_gives_the_same_addresses(desk: Desk) -> None:
    first = desk.sync(ban(DOORS))
    keys = desk.keys
    assert first.state is DONE, first.error
    assert counts(first) == {"created": len(DOORS)}
    for number, data in enumerate(
        (older_ban(DOORS), bano(DOORS), gzip.compress(bal(DOORS)))
    ):
        later = desk.sync(data)
        assert later.state is DONE, later.error
        assert counts(later).keys() <= {"updated"}, number
        assert desk.keys == keys
        assert {row.postcode for row in desk.addresses} == {"54999"}


def test_the_same_file_again_changes_nothing(desk: Desk) -> None:
    desk.sync(ban(DOORS))
    before = [_told(row) for row in desk.addresses]
    again = desk.sync(ban(DOORS))
    assert counts(again) == {}
    assert again.report["matched"] == len(DOORS)
    assert [_told(row) for row in desk.addresses] == before


def _told(row: object) -> dict[str, object]:
    return {k: v for k, v in vars(row).items() if not k.startswith("_")}


def test_four_spellings_of_an_address_are_one(desk: Desk) -> None:
    spelt = [
        Door("12", "bis", "Rue de l’Église"),
        Door("012", "BIS", "RUE DE L'EGLISE"),
        Door("12bis", "", "rue  de l Eglise"),
        Door("12 Bis", "", "Rue de l'Église "),
    ]
    sync = desk.sync(ban(spelt))
    assert sync.report["duplicates"] == 3
    (row,) = desk.addresses
    assert (row.number, row.street) == ("12 bis", "Rue de l’Église")


def test_what_the_file_lacks_is_missing_and_may_come_back(desk: Desk) -> None:
    desk.sync(ban(DOORS))
    desk.change("54998 rue des cloches 00001", notes="Third floor", is_active=False)
    without = desk.sync(ban(DOORS[1:]))
    gone = next(row for row in desk.addresses if row.missing_since)
    assert counts(without) == {"missing": 1}
    assert (gone.number, gone.in_open_data) == ("1", False)
    back = desk.sync(ban(DOORS))
    (row,) = (row for row in desk.addresses if row.key == gone.key)
    assert counts(back) == {"updated": 1, "found_again": 1}
    assert (row.notes, row.is_active, row.in_open_data) == ("Third floor", False, True)
    assert row.missing_since is None


def test_a_position_given_by_hand_stays_and_others_follow(desk: Desk) -> None:
    desk.sync(ban(DOORS))
    desk.change("54998 rue des cloches 00001", lat=1.5, lon=2.5, is_hand_placed=True)
    moved = [
        Door(door.number, door.suffix, door.street, lat="48.5", lon="7.5")
        for door in DOORS
    ]
    assert counts(desk.sync(ban(moved))) == {"updated": len(DOORS) - 1}
    places = {(row.lat, row.lon) for row in desk.addresses}
    assert places == {(1.5, 2.5), (48.5, 7.5)}


def test_an_address_whose_street_has_a_new_name_stays_the_same(desk: Desk) -> None:
    desk.sync(ban(DOORS))
    desk.change("54998 rue des cloches 00007", notes="Ring twice")
    renamed = [
        Door(d.number, d.suffix, "Rue du Carillon", lat=d.lat, id=d.source_id)
        if d.street == "Rue des Cloches"
        else d
        for d in DOORS
    ]
    # Two doors of one id in a file tell nothing about which is which.
    sync = desk.sync(ban(renamed))
    assert counts(sync)["renamed"] == 12
    assert "created" not in counts(sync)
    (row,) = (row for row in desk.addresses if row.notes)
    assert row.key == "54998 rue du carillon 00007"


def test_several_files_count_together_and_other_departments_stay(desk: Desk) -> None:
    with desk.make_session.begin() as session:
        area = session.get_one(AddressArea, desk.of)
        area.postcodes = ["54999", "57999"]
    there = street(5, "Rue du Lavoir", postcode="57999", insee="57998")
    both = desk.sync(ban(DOORS), bano(there))
    assert counts(both) == {"created": len(DOORS) + 5}
    assert [file["layout"] for file in both.report["files"]] == ["BAN", "BANO"]
    one = desk.sync(ban(DOORS))
    assert counts(one) == {}


def test_rows_of_other_places_are_passed_over(desk: Desk) -> None:
    sync = desk.sync(ban([*DOORS, Door(postcode="75001", insee="75101")]))
    assert sync.report["outside"] == 1
    assert sync.report["matched"] == len(DOORS)


def test_rows_that_are_no_addresses_are_told_by_reason_and_line(desk: Desk) -> None:
    bad = [
        Door("99999"),
        Door("s/n"),
        Door(street=" "),
        Door(street="Rue\x07"),
        Door(lat="95"),
        Door(lat="nan"),
        Door("77", lat="", lon=""),
        Door(insee="?"),
    ]
    short = b"only;three;cells\n"
    sync = desk.sync(ban([*DOORS, *bad]) + short)
    reasons = {each["reason"]: each for each in sync.report["reasons"]}
    assert {name: each["n"] for name, each in reasons.items()} == {
        "no_number": 2,
        "no_street": 1,
        "bad_text": 1,
        "bad_position": 2,
        "no_position": 1,
        "bad_commune": 1,
        "columns": 1,
    }
    first = len(DOORS) + 2  # behind the header
    assert reasons["no_number"]["lines"] == [str(first), str(first + 1)]
    assert counts(sync) == {"created": len(DOORS), "rejected": 9}


def test_a_known_address_that_lost_its_position_in_the_file_is_not_missing(
    desk: Desk,
) -> None:
    desk.sync(ban(DOORS))
    without = [*DOORS[1:], Door("1", street="Rue des Cloches", lat="", lon="")]
    assert counts(desk.sync(ban(without))) == {"rejected": 1}
    assert desk.addresses[0].lat is not None


#: What cannot be right -> the code of its sentence.
WRONG = (
    (b"", "empty_file"),
    (ban([]), "no_rows"),
    (ban(DOORS)[:-40], "cut_file"),
    (bano(DOORS)[:-4], "cut_file"),
    (bal(DOORS)[:-40], "cut_file"),
    (gzip.compress(ban(DOORS))[:-12], "cut_file"),
    (b"\x1f\x8bnot packed at all", "bad_gzip"),
    (b"PK\x03\x04....", "not_csv"),
    (b"<html>gone</html>\n", "not_csv"),
    (b"name;email\nA;b\n", "unknown_layout"),
    (b"numero;nom_voie\n1;Rue\n", "missing_columns"),
    (b"x" * 300_000, "no_lines"),
    (ban([Door(postcode="75001", insee="75101")]), "none_wanted"),
    (ban([Door("s/n")]), "all_refused"),
    (ban(DOORS[:4]), "implausible"),
)


def test_what_cannot_be_right_changes_nothing_and_says_so(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.sync(ban(DOORS))
    before = [_told(row) for row in desk.addresses]
    for data, code in WRONG:
        sync = desk.sync(data)
        assert (sync.state, sync.error_code) == (FAILED, code), sync.error
        assert sync.error is not None
        assert sync.error.endswith((".", "”."))
    assert [_told(row) for row in desk.addresses] == before
    assert desk.events == ["sync.completed", *["sync.failed"] * len(WRONG)]


def test_an_operator_may_say_that_it_is_right_all_the_same(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.sync(ban(DOORS))
    sync = desk.sync(ban(DOORS[:4]).rstrip(b"\n"), accepts=True)
    assert sync.state is DONE, sync.error
    assert counts(sync) == {"missing": len(DOORS) - 4}


def test_a_sync_is_told_to_rules_and_files_are_removed_after_it(
    sqlite_desk: Desk,
) -> None:
    desk = sqlite_desk
    sync = desk.sync(ban(DOORS))
    assert desk.events == ["sync.completed"]
    assert desk.storage.keys("") == []
    assert not desk.seen(sync).has_files
    assert sync.report["seconds"] >= 0
    assert sync.progress_done == sync.progress_total
