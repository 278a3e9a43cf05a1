"""The demo's addresses: a village, doors that went missing, a file that was cut."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from dashboard.demo.parish import SACRISTAN
from dashboard.demo.timelapse import Timelapse
from tasks.congregation.addresses.areas import (
    AreaChange,
    save_area,
    save_perimeter,
)
from tasks.congregation.addresses.starting import start_sync
from tasks.congregation.addresses.uploads import keep_upload
from tasks.db import Begin
from tasks.lanes import sync
from tasks.storage import Storage

#: Street -> its doors, and where the first one is.
_STREETS: Final = (
    ("Rue de l’Église", 24, 49.1210, 6.0410),
    ("Place du Carillon", 9, 49.1222, 6.0432),
    ("Chemin des Vignes", 31, 49.1187, 6.0379),
    ("Allée Jeanne-d’Arc", 18, 49.1239, 6.0455),
    ("Rue du Lavoir", 12, 49.1201, 6.0498),
)
_SUFFIXES: Final = {4: "bis", 9: "ter", 17: "B"}
_PERIMETER: Final = """{"type": "Polygon", "coordinates": [[[6.0362, 49.1178],
[6.0428, 49.1171], [6.0487, 49.1192], [6.0502, 49.1229], [6.0478, 49.1251],
[6.0401, 49.1246], [6.0371, 49.1217], [6.0362, 49.1178]]]}"""
_MEGABYTE: Final = 1_000_000
_LOST: Final = 3  # doors of the last street
_FILE: Final = "bano-54.csv"


def make_addresses(
    begin: Begin, lapse: Timelapse, storage: Storage, parish: UUID, now: datetime
) -> None:
    """Let the parish say what it wants, and the lane read three files, days apart."""
    lapse.clock.at = now - timedelta(days=40)
    with begin() as session:
        save_area(
            session,
            parish,
            AreaChange("54998", "", "", 0),
            SACRISTAN,
            now=lapse.clock.at,
            check_url=lambda _: None,
        )
    lines = _lines()
    _read(begin, lapse, storage, parish, lines)
    lapse.clock.at = now - timedelta(days=39)
    with begin() as session:
        save_perimeter(session, parish, _PERIMETER, 1, SACRISTAN, now=lapse.clock.at)
    sync.sweep(replace(lapse.bench, storage=storage), 1)
    lapse.clock.at = now - timedelta(days=9)
    _read(begin, lapse, storage, parish, [lines[0][:30]])
    lapse.clock.at = now - timedelta(days=9) + timedelta(minutes=4)
    odd = "549980010A-0,s/n,Rue du Lavoir,54998,Clochers,CAD,49.12,6.05\n"
    _read(begin, lapse, storage, parish, [*lines[:-_LOST], odd])
    lapse.clock.at = now


def _read(
    begin: Begin,
    lapse: Timelapse,
    storage: Storage,
    parish: UUID,
    lines: Sequence[str],
) -> None:
    """Upload a file and let the lane read it."""
    upload, at = (_FILE, io.BytesIO("".join(lines).encode())), lapse.clock.at
    source = keep_upload(begin, storage, parish, upload, at, limit=_MEGABYTE)
    with begin() as session:
        start_sync(session, parish, [source], SACRISTAN, now=at)
    sync.sweep(replace(lapse.bench, storage=storage), 1)


def _lines() -> list[str]:
    """Return the doors of the village as BANO lays them out."""
    return [
        f"54998{street:04d}A-{n},{n}{_SUFFIXES.get(n, '')},{name},54998,"
        f"Clochers-sur-Moselle,OSM,{lat + n * 1.1e-4:.6f},{lon + n * 7e-5:.6f}\n"
        for street, (name, doors, lat, lon) in enumerate(_STREETS)
        for n in range(1, doors + 1)
    ]
