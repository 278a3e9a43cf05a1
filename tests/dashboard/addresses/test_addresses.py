"""The pages of addresses: the list, one address, the area, and its perimeter."""

from __future__ import annotations

import io
import json
import re
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import Address, AddressArea, AuditEntry, Congregation, Sync, SyncKind
from tests.dashboard.conftest import Browser
from tests.support import address_rows

SQUARE = {
    "type": "Polygon",
    "coordinates": [[[6.0, 48.5], [6.5, 48.5], [6.5, 49.0], [6.0, 49.0], [6.0, 48.5]]],
}


@pytest.fixture
def doors(congregation: Congregation, sqlite_engine: Engine) -> UUID:
    """Keep three addresses; return the id of one of them."""
    of = congregation.id
    with Session(sqlite_engine) as session, session.begin():
        first = address_rows.address(session, of)
        address_rows.address(
            session,
            of,
            key="54998 rue de l eglise 00012 bis",
            number="12 bis",
            street="Rue de l’Église",
            in_territory=False,
        )
        address_rows.address(
            session,
            of,
            key="54998 rue du puits 00002",
            number="2",
            in_open_data=False,
            missing_since=utcnow(),
        )
        return first.id


def _row(engine: Engine, id_: UUID) -> Address:
    with Session(engine) as session:
        return session.get_one(Address, id_)


def test_addresses_are_found_by_street_number_and_place(
    as_viewer: Browser, doors: UUID
) -> None:
    for text, found in (
        ("", ["12 bis", "1", "2"]),
        ("eglise", ["12 bis"]),
        ("12 rue de l'Église", ["12 bis"]),
        ("1 puits", ["1"]),
        ("54999 clochers", ["12 bis", "1", "2"]),
        ("nowhere", []),
    ):
        page = as_viewer.get("/addresses/", query_string={"q": text}).text
        assert [n for n in ("12 bis", "1", "2") if f"<strong>{n}</strong>" in page] == (
            found
        ), text


def test_tabs_narrow_the_list_and_an_unknown_one_is_refused(
    as_viewer: Browser, doors: UUID
) -> None:
    assert as_viewer.get("/addresses/?tab=missing").text.count('id="address-') == 1
    assert "Outside" in as_viewer.get("/addresses/?tab=outside").text
    assert as_viewer.get("/addresses/?tab=odd").status_code in {400, 422}


def test_a_position_given_by_hand_is_kept_and_looked_at(
    as_operator: Browser,
    doors: UUID,
    congregation: Congregation,
    sqlite_engine: Engine,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        address_rows.area(session, congregation.id, perimeter=SQUARE)
    values = {"lat": "10,5", "lon": "6.1", "notes": "Ring twice", "is_active": "y"}
    assert as_operator.post(f"/addresses/{doors}", data=values).status_code == 303
    row = _row(sqlite_engine, doors)
    assert (row.lat, row.lon, row.is_hand_placed) == (10.5, 6.1, True)
    assert (row.in_territory, row.notes) == (False, "Ring twice")
    page = as_operator.get(f"/addresses/{doors}").text
    assert "given by hand" in page
    as_operator.post(f"/addresses/{doors}", data=values | {"follows": "y"})
    assert not _row(sqlite_engine, doors).is_hand_placed


def test_a_page_from_before_a_sync_does_not_move_the_address_back(
    as_operator: Browser, doors: UUID, sqlite_engine: Engine
) -> None:
    page = as_operator.get(f"/addresses/{doors}").text
    (seen,) = re.findall(r'name="seen" type="hidden" value="([^"]*)"', page)
    with Session(sqlite_engine) as session, session.begin():
        session.get_one(Address, doors).lat = 49.5  # a sync says so
    lat, lon = seen.split(" ")
    values = {"lat": lat, "lon": lon, "seen": seen, "notes": "Ring", "is_active": "y"}
    assert as_operator.post(f"/addresses/{doors}", data=values).status_code == 303
    row = _row(sqlite_engine, doors)
    assert (row.lat, row.is_hand_placed, row.notes) == (49.5, False, "Ring")
    as_operator.post(f"/addresses/{doors}", data=values | {"lat": "49.25"})
    row = _row(sqlite_engine, doors)
    assert (row.lat, row.is_hand_placed) == (49.25, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("lat", "91"), ("lat", "north"), ("lon", "nan"), ("notes", "x" * 3000)],
)
def test_a_value_that_cannot_be_kept_is_said_at_its_field(
    as_operator: Browser, doors: UUID, sqlite_engine: Engine, name: str, value: str
) -> None:
    values = {"lat": "1", "lon": "1", "notes": ""} | {name: value}
    answer = as_operator.post(f"/addresses/{doors}", data=values)
    assert answer.status_code == 422
    assert 'class="field-error"' in answer.text
    assert _row(sqlite_engine, doors).lat == 49.0


def test_an_area_is_kept_and_told_to_the_audit_log(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    url = "https://adresse.data.gouv.fr/adresses-54.csv.gz"
    values = {
        "version": "0",
        "postcodes": "54111, 54112\n54111",
        "communes": "2a004",
        "urls": url,
    }
    assert as_operator.post("/addresses/areas/st-mary", data=values).status_code == 303
    with Session(sqlite_engine) as session:
        area = session.get_one(AddressArea, congregation.id)
        actions = session.scalars(select(AuditEntry.action)).all()
    assert (area.postcodes, area.communes) == (["54111", "54112"], ["2A004"])
    assert "area.saved" in actions
    assert "54111" in as_operator.get("/addresses/areas").text
    assert url in as_operator.get("/addresses/syncs/new").text
    stale = as_operator.post("/addresses/areas/st-mary", data=values)
    assert stale.status_code == 422
    assert "meanwhile" in stale.text


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("postcodes", "5411", "is no postal code"),
        ("communes", "Paris", "is no INSEE code"),
        ("urls", "http://adresse.data.gouv.fr/x", "https"),
        ("urls", "https://example.org/x", "OPEN_DATA_ALLOWLIST"),
        ("urls", "https://127.0.0.1/x", "private"),
        ("version", "1" * 5_000, "meanwhile"),
    ],
)
def test_an_area_that_cannot_be_meant_is_refused(
    as_operator: Browser, congregation: Congregation, name: str, value: str, said: str
) -> None:
    values = {"version": "0", name: value}
    answer = as_operator.post("/addresses/areas/st-mary", data=values)
    assert answer.status_code == 422
    assert said in answer.text


def test_a_perimeter_is_drawn_and_every_address_is_looked_at(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    feature = {"type": "Feature", "properties": {}, "geometry": SQUARE}
    answer = as_operator.post(
        "/addresses/areas/st-mary/perimeter",
        data={
            "version": "0",
            "file": (io.BytesIO(json.dumps(feature).encode()), "x.geojson"),
        },
    )
    assert answer.status_code == 303
    with Session(sqlite_engine) as session:
        assert session.scalars(select(Sync.kind)).one() is SyncKind.PERIMETER
    page = as_operator.get("/addresses/areas/st-mary").text
    drawn = as_operator.get("/addresses/areas/st-mary/perimeter.svg")
    assert "km²" in page
    assert drawn.mimetype == "image/svg+xml"
    assert "<path" in drawn.text
    kept = as_operator.get("/addresses/areas/st-mary/perimeter.geojson")
    assert json.loads(kept.text)["type"] == "Polygon"
    gone = {"version": "1", "remove": "yes"}
    as_operator.post("/addresses/areas/st-mary/perimeter", data=gone)
    svg = as_operator.get("/addresses/areas/st-mary/perimeter.svg")
    assert svg.status_code == 404


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Paste the perimeter"),
        ("{", "This is no JSON"),
        ("[" * 100_000, "This is no JSON"),
        ("[]", "no GeoJSON object"),
        ('{"type": "Point", "coordinates": [1, 2]}', "no Polygon"),
        ('{"type": "Circle"}', "none of GeoJSON"),
        ('{"type": ["Polygon"]}', "none of GeoJSON"),
        ('{"type": "Polygon", "coordinates": []}', "list of rings"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]}', "four points"),
        (
            '{"type": "Polygon", "coordinates": [[[0,0],[1,1],[1,0],[0,9]]]}',
            "where it begins",
        ),
        (
            '{"type": "Polygon", "coordinates": [[[0,0],[1,1],[1,0],[0,1],[0,0]]]}',
            "crosses",
        ),
        (
            '{"type": "Polygon", "coordinates": [[[0,0],[700,1],[1,0],[0,0]]]}',
            "is no point",
        ),
        (
            '{"type": "Polygon", "coordinates": [[["a",0],[7,1],[1,0],[0,0]]]}',
            "is no point",
        ),
        (
            '{"type": "Polygon", "coordinates": [[[NaN,0],[7,1],[1,0],[0,0]]]}',
            "is no point",
        ),
    ],
)
def test_what_is_no_perimeter_is_refused_with_the_reason(
    as_operator: Browser, congregation: Congregation, text: str, said: str
) -> None:
    answer = as_operator.post(
        "/addresses/areas/st-mary/perimeter", data={"version": "0", "perimeter": text}
    )
    assert answer.status_code == 422
    assert said in answer.text
