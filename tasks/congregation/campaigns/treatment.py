"""The two treatments of a campaign: what its start and its end do to a piece of work.

The same two treat what is added to the scope of a campaign that runs, and what is
taken out of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns import work
from tasks.congregation.campaigns.reassigning import reassign
from tasks.models import Attribution, Campaign, EndAction, StartAction
from tasks.models.base import Json

#: The report names this many pairs that could not be given out, and counts the rest.
REFUSED_MAX: Final = 200


def start(session: Session, campaign: Campaign, piece: work.Piece, today: date) -> Json:
    """Do to a piece of the work what the campaign does at its start; say how much."""
    if campaign.start_action is StartAction.LEAVE:
        return {}
    done: Json = {"postponed": work.postpone(session, campaign, piece, today)}
    if campaign.start_action is StartAction.CLOSE:
        closing = work.regular(campaign) & work.begun(today) & piece
        return done | {"closed": work.close(session, closing, today)}
    paused = work.pause(session, campaign, piece, today)
    done["paused"] = len(paused)
    if campaign.reassigns:
        done |= reassign(session, campaign, paused, today)
    return done


def end(
    session: Session, campaign: Campaign, piece: work.Piece, today: date, *, last: date
) -> Json:
    """Do to a piece of the work what the campaign does at its end; say how much.

    Args:
        last: the day on which what is closed counts as ended.
    """
    done: Json = {}
    if campaign.closes_work:
        done["work_closed"] = work.close(session, work.own(campaign) & piece, last)
    paused = work.paused_by(campaign) & piece
    if campaign.end_action is EndAction.RESUME:
        return done | {"resumed": work.resume(session, paused, today)}
    if campaign.end_action is EndAction.CLOSE:
        return done | {"closed": work.close(session, paused, last)}
    kept = select(func.count()).select_from(Attribution).where(paused)
    return done | {"kept_paused": session.scalar(kept) or 0}


def added(report: Mapping[str, Any], part: str, done: Mapping[str, Any]) -> Json:
    """Return a campaign's report with what was done added to its start or end."""
    before = report.get(part, {})
    counts = Counter({k: n for k, n in before.items() if isinstance(n, int)})
    counts.update({k: n for k, n in done.items() if isinstance(n, int)})
    refused = [*before.get("refused", ()), *done.get("refused", ())][:REFUSED_MAX]
    told: Json = dict(counts) | ({"refused": refused} if refused else {})
    return {**report, part: told}
