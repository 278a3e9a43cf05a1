"""One congregation's daily run, piece by piece, each piece one transaction."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from tasks.congregation.days import locked
from tasks.congregation.retention import blocks
from tasks.congregation.retention.announcing import NOTICES_MAX, announce
from tasks.congregation.retention.candidates import Today, claim
from tasks.congregation.retention.erasing import erase
from tasks.errors import EngineError, words_of
from tasks.models import BlockReason, Congregation
from tasks.operations.audit import SYSTEM, Subject, record

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Piece:
    """What one piece did, as ids of members."""

    anonymised: Sequence[UUID]
    noticed: Sequence[UUID]  # it was announced that their time comes soon
    blocked: Sequence[UUID]  # new on the list
    released: Sequence[UUID]  # nothing holds them back any more
    failed: Sequence[UUID]
    is_last: bool  # nobody else is due today, or to be announced


def run_piece(
    session: Session, congregation_id: UUID, now: datetime, limit: int
) -> Piece:
    """Erase up to ``limit`` members whose time has come; the caller commits.

    One that fails does not hold up the others: each has a savepoint as soon as one of
    them failed.
    """
    congregation = locked(session, congregation_id)
    today = Today.of(congregation, now)
    blocked, released = blocks.look_over(session, today)
    noticed = announce(session, today)
    claimed = claim(session, today, limit)
    failed = _erase(session, congregation, claimed, today) if claimed else {}
    for member_id, told in failed.items():
        blocks.block(session, today, member_id, BlockReason.FAILED, told)
    piece = Piece(
        anonymised=[each for each in claimed if each not in failed],
        noticed=noticed,
        blocked=blocked,
        released=released,
        failed=list(failed),
        is_last=len(claimed) < limit and len(noticed) < NOTICES_MAX,
    )
    _record(session, congregation, piece)
    return piece


def _erase(
    session: Session, congregation: Congregation, ids: Sequence[UUID], today: Today
) -> dict[UUID, str]:
    """Erase all together, or each for itself if that fails; returns who failed."""
    if not (told := _tried(session, congregation, ids, today)):
        return {}
    if len(ids) == 1:
        return {ids[0]: told}
    failed: dict[UUID, str] = {}
    for member_id in ids:
        if told := _tried(session, congregation, [member_id], today):
            failed[member_id] = told
    return failed


def _tried(
    session: Session, congregation: Congregation, ids: Sequence[UUID], today: Today
) -> str:
    """Erase within a savepoint; returns what went wrong, empty: nothing did."""
    try:
        with session.begin_nested():
            erase(session, congregation, ids, SYSTEM.name, today.now)
    except (SQLAlchemyError, EngineError) as error:
        told = words_of(error)
        extra = {"congregation": str(congregation.id), "n": len(ids), "error": told}
        logger.warning("retention.not_erased", extra=extra)
        return told
    return ""


def _record(session: Session, congregation: Congregation, piece: Piece) -> None:
    said: dict[str, Any] = {
        name: [str(each) for each in ids]
        for name, ids in (
            ("ids", piece.anonymised),
            ("noticed", piece.noticed),
            ("blocked", piece.blocked),
            ("released", piece.released),
            ("failed", piece.failed),
        )
        if ids
    }
    if not said:
        return
    numbers = (
        (len(piece.anonymised), "anonymised"),
        (len(piece.noticed), "announced"),
        (len(piece.blocked), "have to stay for now"),
        (len(piece.released), "need not stay any more"),
        (len(piece.failed), "failed"),
    )
    told = ", ".join(f"{n} {what}" for n, what in numbers if n)
    subject = Subject("member", "many", congregation.id)
    summary = f"Members who left: {told}."
    record(session, SYSTEM, "retention.swept", subject, summary, after=said)
