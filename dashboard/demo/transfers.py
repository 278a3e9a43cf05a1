"""The demo's archives: one that was exported, and one that cannot be imported."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID
from zipfile import ZipFile

from dashboard.demo.parish import SACRISTAN
from dashboard.demo.timelapse import Timelapse
from tasks.congregation.transfer import starting
from tasks.db import Begin
from tasks.lanes import data_transfer
from tasks.storage import Storage

_MEGABYTE: Final = 1_000_000
#: As another program exported them; two rows are not as they should be.
_ROWS: Final[dict[str, list[dict[str, Any]]]] = {
    "members": [
        {"id": 1, "firstname": "Odile", "lastname": "Perrin", "isHelder": True},
        {"id": 2, "firstname": "Luc", "lastname": "Perrin", "birthDate": "1961"},
    ],
    "territories": [
        {"id": 7, "number": "12", "type": "door-to-door", "notes": ""},
        {"id": 8, "number": "13", "type": "shops", "notes": ""},
    ],
    "attributions": [
        {
            "id": 4,
            "type": "default",
            "publisherId": 3,
            "territoryId": 7,
            "startDate": "2026-01-05",
            "lateDate": "2026-05-05",
            "notes": "",
        }
    ],
}


def make_transfers(
    begin: Begin, lapse: Timelapse, storage: Storage, parish: UUID, now: datetime
) -> None:
    """Let the parish export itself, and look at an archive from elsewhere."""
    bench = replace(lapse.bench, storage=storage)
    lapse.clock.at = now - timedelta(days=5)
    _check(begin, lapse, storage, parish)
    data_transfer.sweep(bench, 1)
    lapse.clock.at = now - timedelta(hours=3)
    with begin() as session:
        starting.start_export(
            session, parish, SACRISTAN, files=True, audit=False, now=lapse.clock.at
        )
    data_transfer.sweep(bench, 1)
    lapse.clock.at = now


def _check(begin: Begin, lapse: Timelapse, storage: Storage, parish: UUID) -> None:
    at = lapse.clock.at
    archive, name = _archive(at), "saint-nicolas.unitae"
    upload = starting.keep_upload(
        begin, storage, parish, archive, name, at, limit=_MEGABYTE
    )
    with begin() as session:
        starting.start_check(session, parish, upload, SACRISTAN, at)


def _archive(at: datetime) -> io.BytesIO:
    made = io.BytesIO()
    manifest = {
        "version": "2.4",
        "exportDate": at.isoformat(),
        "sourceApp": "unitae",
        "entityCounts": {name: len(rows) for name, rows in _ROWS.items()},
    }
    with ZipFile(made, "w") as file:
        file.writestr("manifest.json", json.dumps(manifest))
        for name, rows in _ROWS.items():
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            file.writestr(f"data/{name}.ndjson", lines)
    made.seek(0)
    return made
