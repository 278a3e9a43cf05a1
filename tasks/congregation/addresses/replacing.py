"""Looking anew which addresses are within a perimeter that was changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, func, select, update
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.congregation.addresses.perimeters import Perimeter
from tasks.db import reading
from tasks.long_jobs import Progress
from tasks.models.address import Address, AddressArea, Sync
from tasks.saying import mark

_BLOCK: Final = 5_000  # rows read at once
_CHUNK: Final = 1_000  # rows changed by one statement
_LOOKING: Final = mark("Looking at the perimeter")


def look_anew(sync: Sync, progress: Progress[Sync]) -> None:
    """Let every address say whether it is within the perimeter as it is now."""
    bench = progress.bench
    with bench.begin() as session:
        area = session.get(AddressArea, sync.congregation_id)
        total = session.scalar(select(func.count()).where(*_of(sync))) or 0
    perimeter = Perimeter(area.perimeter if area else None)
    moved: dict[bool, list[UUID]] = {True: [], False: []}
    done = 0
    for rows in _blocks(sync, progress):
        inside = perimeter.inside([row.lat for row in rows], [row.lon for row in rows])
        for row, is_in in zip(rows, inside, strict=True):
            if is_in is not row.in_territory:
                moved[is_in].append(row.id)
        done += len(rows)
        progress.report(done, max(total, done), _LOOKING)
    with bench.begin() as session:
        ended = progress.finish(session)
        for is_in, ids in moved.items():
            _move(session, ids, is_in=is_in)
        ended.report = {
            "read": done,
            "now_inside": len(moved[True]),
            "now_outside": len(moved[False]),
        }


def _of(sync: Sync) -> tuple[ColumnElement[bool], ...]:
    return (Address.congregation_id == sync.congregation_id,)


def _blocks(
    sync: Sync, progress: Progress[Sync]
) -> Iterator[Sequence[Row[UUID, str, float | None, float | None, bool]]]:
    """Yield all addresses in short transactions, so that nobody waits for us."""
    columns = (Address.id, Address.key, Address.lat, Address.lon, Address.in_territory)
    after = ""
    while True:
        with progress.bench.begin() as session:
            reading(session)
            rows = session.execute(
                select(*columns)
                .where(*_of(sync), Address.key > after)
                .order_by(Address.key)
                .limit(_BLOCK)
            ).all()
        if not rows:
            return
        yield rows
        after = rows[-1].key


def _move(session: Session, ids: Sequence[UUID], *, is_in: bool) -> None:
    for start in range(0, len(ids), _CHUNK):
        some = ids[start : start + _CHUNK]
        session.execute(
            update(Address)
            .where(among(session, Address.id, some))
            .values(in_territory=is_in)
            .execution_options(synchronize_session=False)
        )
