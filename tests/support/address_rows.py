"""Files of addresses in every layout, of our own making, and areas to want them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models import Address, AddressArea, Sync
from tasks.models.long_job import LongJobState

BAN = (
    "id;id_fantoir;numero;rep;nom_voie;code_postal;code_insee;nom_commune;"
    "code_insee_ancienne_commune;nom_ancienne_commune;x;y;lon;lat;type_position;alias;"
    "nom_ld;libelle_acheminement;nom_afnor;source_position;source_nom_voie;"
    "certification_commune;cad_parcelles"
)
OLDER_BAN = (
    "id;nom_voie;id_fantoir;numero;rep;code_insee;code_post;alias;nom_ld;nom_afnor;"
    "libelle_acheminement;x;y;lon;lat;nom_commune"
)
BAL = (
    "uid_adresse;cle_interop;commune_insee;commune_nom;commune_deleguee_insee;"
    "commune_deleguee_nom;voie_nom;lieudit_complement_nom;numero;suffixe;position;x;y;"
    "long;lat;cad_parcelles;source;date_der_maj;certification_commune"
)


@dataclass(frozen=True)
class Door:
    """One address, as files tell of it."""

    number: str = "12"
    suffix: str = ""
    street: str = "Rue de l’Église"
    postcode: str = "54999"
    insee: str = "54998"
    city: str = "Clochers"
    lat: str = "49.0000000"
    lon: str = "6.0000000"
    former: str = ""
    id: str | None = None

    @property
    def source_id(self) -> str:
        return self.id or f"{self.insee}_0010_{self.number}{self.suffix}"


def street(n: int, name: str = "Rue des Cloches", **values: Any) -> list[Door]:
    """Return the doors of a street, each at a place of its own."""
    return [
        Door(str(i), street=name, lat=f"49.{i:04d}", **values) for i in range(1, n + 1)
    ]


def ban(doors: Iterable[Door]) -> bytes:
    """Return a file in today's layout of BAN."""
    return _with_header(
        BAN,
        (
            {
                "id": door.source_id,
                "numero": door.number,
                "rep": door.suffix,
                "nom_voie": door.street,
                "code_postal": door.postcode,
                "code_insee": door.insee,
                "nom_commune": door.city,
                "code_insee_ancienne_commune": door.former,
                "lon": door.lon,
                "lat": door.lat,
            }
            for door in doors
        ),
    )


def older_ban(doors: Iterable[Door]) -> bytes:
    """Return a file in an older layout of BAN; streets were written small then."""
    return _with_header(
        OLDER_BAN,
        (
            {
                "id": f"ADR_{door.source_id}",
                "nom_voie": door.street.lower(),
                "numero": door.number,
                "rep": door.suffix.upper(),
                "code_insee": door.insee,
                "code_post": door.postcode,
                "lon": door.lon,
                "lat": door.lat,
                "nom_commune": door.city,
            }
            for door in doors
        ),
    )


def bal(doors: Iterable[Door]) -> bytes:
    """Return a commune's own file; it names no postal codes."""
    return _with_header(
        BAL,
        (
            {
                "cle_interop": door.source_id,
                "commune_insee": door.insee,
                "commune_nom": door.city,
                "commune_deleguee_insee": door.former,
                "voie_nom": door.street,
                "numero": door.number,
                "suffixe": door.suffix,
                "long": door.lon,
                "lat": door.lat,
            }
            for door in doors
        ),
    ).rstrip(b"\n")


def bano(doors: Iterable[Door]) -> bytes:
    """Return a file of BANO: no header, latitude first, suffix within the number."""
    return _lines(
        ",",
        (
            (
                f"{door.insee}0010A-{door.number}",
                f"{door.number}{door.suffix.upper()}",
                door.street,
                door.postcode,
                door.city,
                "OSM",
                door.lat,
                door.lon,
            )
            for door in doors
        ),
    )


def area(session: Session, congregation_id: UUID, **values: Any) -> AddressArea:
    """Let a congregation want the doors that are made here."""
    defaults: dict[str, Any] = {"postcodes": ["54999"], "communes": ["54998"]}
    row = AddressArea(congregation_id=congregation_id, **defaults | values)
    session.add(row)
    session.flush()
    return row


def address(session: Session, congregation_id: UUID, **values: Any) -> Address:
    """Add an address that open data knows."""
    defaults: dict[str, Any] = {
        "key": "54998 rue du puits 00001",
        "number": "1",
        "street": "Rue du Puits",
        "postcode": "54999",
        "city": "Clochers",
        "insee": "54998",
        "lat": 49.0,
        "lon": 6.0,
        "in_open_data": True,
    }
    row = Address(congregation_id=congregation_id, **defaults | values)
    session.add(row)
    session.flush()
    return row


def known(session: Session, congregation_id: UUID, mark: str) -> dict[str, str]:
    """Add an address and a sync with ``mark`` in every text; return their ids."""
    square = [[6.0, 48.5], [6.5, 48.5], [6.5, 49.0], [6.0, 48.5]]
    area(
        session,
        congregation_id,
        perimeter={"type": "Polygon", "coordinates": [square]},
    )
    row = address(
        session, congregation_id, street=mark, city=mark, notes=mark, key=f"1 {mark}"
    )
    sync = Sync(
        congregation_id=congregation_id,
        sources=[{"name": mark, "url": f"https://data.gouv.fr/{mark}"}],
        requested_by=f"{mark}@example.org",
        state=LongJobState.FAILED,
        error=mark,
        report={
            "read": 1,
            "files": [{"name": mark, "layout": "BAN", "rows": 1, "bytes": 1}],
        },
    )
    session.add(sync)
    session.flush()
    return {"address_id": str(row.id), "sync_id": str(sync.id)}


def _with_header(header: str, rows: Iterable[dict[str, str]]) -> bytes:
    names = header.split(";")
    told = ([row.get(name, "") for name in names] for row in rows)
    return _lines(";", [names, *told])


def _lines(delimiter: str, rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
