"""Giving those whose work was paused the same territory for the campaign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, insert, or_, select
from sqlalchemy.exc import DataError, IntegrityError, InternalError
from sqlalchemy.orm import Session

from tasks.congregation.campaigns import work
from tasks.models import Attribution, Campaign, Member, new_id
from tasks.models.base import Json
from tasks.saying import mark

_CHUNK: Final = 500  # rows of one statement
#: What the database says no to without being broken.
_Refusal: Final = (IntegrityError, DataError, InternalError)

#: Why somebody gets nothing, as the report keeps it -> as operators read it.
WHY: Final = {
    "left": mark("has left the congregation"),
    "inactive": mark("is inactive"),
    "refused": mark("was refused by the database"),
}


def reassign(
    session: Session, campaign: Campaign, paused: Sequence[work.Paused], today: date
) -> tuple[Json, list[tuple[UUID, UUID]]]:
    """Give out what was paused for the campaign, with the same method.

    Returns what the report says, and the new work: attribution and member.  A pair that
    cannot be given out is written down and holds up no other.
    """
    had = _pairs(session, campaign)
    unfit = _unfit(session, campaign, today)
    fresh = [row for row in paused if (row[1], row[2]) not in had]
    refused = [_failure(row, unfit[row[1]]) for row in fresh if row[1] in unfit]
    rows = [_row(campaign, row, today) for row in fresh if row[1] not in unfit]
    given: list[tuple[UUID, UUID]] = []
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        lost = {row["id"] for row in _insert(session, chunk)}
        refused += [_refused(row) for row in chunk if row["id"] in lost]
        given += [(r["id"], r["member_id"]) for r in chunk if r["id"] not in lost]
    told = {
        "reassigned": len(given),
        "had_it": len(paused) - len(fresh),
        "not_reassigned": len(refused),
        "refused": refused,
    }
    return told, given


def _insert(session: Session, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Insert rows in one statement, else one by one; yields what was refused."""
    try:
        with session.begin_nested():
            session.execute(insert(Attribution), rows)
    except _Refusal:
        if len(rows) == 1:
            yield rows[0]
            return
        for row in rows:
            yield from _insert(session, [row])


def _pairs(session: Session, campaign: Campaign) -> set[tuple[UUID, UUID]]:
    """Return who works on what in the campaign already."""
    found = select(Attribution.member_id, Attribution.territory_id)
    return {(m, t) for m, t in session.execute(found.where(work.own(campaign)))}


def _unfit(session: Session, campaign: Campaign, today: date) -> dict[UUID, str]:
    """Return members who hold work that was paused, and are to get none, with why."""
    held = select(Attribution.member_id).where(work.paused_by(campaign))
    rows = session.execute(
        select(Member.id, Member.left_on, Member.anonymised_at).where(
            Member.congregation_id == campaign.congregation_id,
            Member.id.in_(held),
            is_unfit(today),
        )
    )
    return {
        id_: "left" if erased or (left and left <= today) else "inactive"
        for id_, left, erased in rows
    }


def is_unfit(today: date) -> ColumnElement[bool]:
    """Return the condition of members who are given no work."""
    return or_(
        Member.left_on <= today,
        Member.inactive_on <= today,
        Member.anonymised_at.is_not(None),
    )


def _row(campaign: Campaign, paused: Sequence[Any], today: date) -> dict[str, Any]:
    _, member_id, territory_id, method = paused
    return {
        "id": new_id(),
        "congregation_id": campaign.congregation_id,
        "territory_id": territory_id,
        "member_id": member_id,
        "method": method,
        "started_on": today,
        "due_on": campaign.ends_on,
        "notes": "",
        "campaign_id": campaign.id,
    }


def _failure(paused: Sequence[Any], why: str) -> Json:
    """Return a line of the report: ids, since names may have to be forgotten."""
    return {
        "member_id": str(paused[1]),
        "territory_id": str(paused[2]),
        "why": why,
    }


def _refused(row: dict[str, Any]) -> Json:
    return _failure((None, row["member_id"], row["territory_id"]), "refused")
