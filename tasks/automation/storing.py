"""Storing events: once each, whoever reports them and how often."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.payloads import Report
from tasks.automation.records import chunks
from tasks.automation.upsert import insert_new
from tasks.bulk import insert_many
from tasks.lookups import among_keys
from tasks.models.event import Event, EventData

_DATA: Final = EventData.metadata.tables[EventData.__tablename__]


def store(
    session: Session, reports: Sequence[Report], now: datetime
) -> dict[UUID, UUID]:
    """Insert the events; returns under which id each report is stored.

    That is its own id, or the one of the first event with the same ``event_id``.
    """
    ordered = sorted(reports, key=lambda each: each.external_id or "")
    born = insert_new(
        session,
        Event,
        [_columns(report, now) for report in ordered],
        unique=("congregation_id", "external_id"),
    )
    told = [
        {
            "event_id": report.id,
            "congregation_id": report.congregation_id,
            "data": report.extra,
        }
        for report in ordered
        if report.id in born and report.extra
    ]
    insert_many(session, _DATA, told)
    firsts = _firsts(session, [each for each in ordered if each.id not in born])
    return {
        report.id: report.id
        if report.id in born
        else firsts[report.congregation_id, report.external_id]
        for report in reports
    }


def _firsts(
    session: Session, repeated: Sequence[Report]
) -> dict[tuple[UUID, str | None], UUID]:
    found: dict[tuple[UUID, str | None], UUID] = {}
    keys = sorted({(each.congregation_id, each.external_id or "") for each in repeated})
    for chunk in chunks(keys):
        rows = session.execute(
            select(Event.congregation_id, Event.external_id, Event.id).where(
                among_keys(session, (Event.congregation_id, Event.external_id), chunk)
            )
        )
        found.update({(of, external_id): id_ for of, external_id, id_ in rows})
    return found


def _columns(report: Report, now: datetime) -> dict[str, object]:
    return {
        "id": report.id,
        "congregation_id": report.congregation_id,
        "type": report.trigger_type,
        "external_id": report.external_id,
        "podcast_id": report.podcast_id,
        "episode_id": report.episode_id,
        "booking_id": report.booking_id,
        "guest_id": report.guest_id,
        "source": report.source,
        "depth": report.depth,
        "occurred_at": report.occurred_at,
        "created_at": now,
    }
