"""The two treatments of a campaign: what its start and its end do to a piece of work.

The same two treat what is added to the scope of a campaign that runs, and what is
taken out of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns import work
from tasks.congregation.campaigns.reassigning import reassign
from tasks.congregation.notifications.telling import News, notify_all
from tasks.models import Attribution, Campaign, EndAction, StartAction
from tasks.models.base import Json

#: The report names this many pairs that could not be given out, and counts the rest.
REFUSED_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Treated:
    """What was done: counts for the report, and news for those who hold the work."""

    counts: Json = field(default_factory=dict)
    news: Sequence[News] = ()


def start(
    session: Session, campaign: Campaign, piece: work.Piece, today: date
) -> Treated:
    """Do to a piece of the work what the campaign does at its start."""
    if campaign.start_action is StartAction.LEAVE:
        return Treated()
    postponed = work.postpone(session, campaign, piece, today)
    done: Json = {"postponed": len(postponed)}
    if campaign.start_action is StartAction.CLOSE:
        closing = work.regular(campaign) & work.begun(today) & piece
        closed = work.close(session, closing, today)
        news = _news(campaign, "territory.closed", closed)
        return Treated(done | {"closed": len(closed)}, news)
    paused = work.pause(session, campaign, piece, today)
    done["paused"] = len(paused)
    news = _news(campaign, "territory.paused", paused)
    if campaign.reassigns:
        told, given = reassign(session, campaign, paused, today)
        done |= told
        news += [News("territory.given", id_, member_id=who) for id_, who in given]
    return Treated(done, news)


def end(
    session: Session, campaign: Campaign, piece: work.Piece, today: date, *, last: date
) -> Treated:
    """Do to a piece of the work what the campaign does at its end.

    Args:
        last: the day on which what is closed counts as ended.
    """
    done: Json = {}
    news: list[News] = []
    if campaign.closes_work:
        own = work.close(session, work.own(campaign) & piece, last)
        done["work_closed"] = len(own)
        news += _news(campaign, "territory.closed", own)
    paused = work.paused_by(campaign) & piece
    if campaign.end_action is EndAction.RESUME:
        resumed = work.resume(session, paused, today)
        news += _news(campaign, "territory.resumed", resumed)
        return Treated(done | {"resumed": len(resumed)}, news)
    if campaign.end_action is EndAction.CLOSE:
        closed = work.close(session, paused, last)
        news += _news(campaign, "territory.closed", closed)
        return Treated(done | {"closed": len(closed)}, news)
    kept = select(func.count()).select_from(Attribution).where(paused)
    return Treated(done | {"kept_paused": session.scalar(kept) or 0}, news)


def tell(
    session: Session, campaign: Campaign, part: str, treated: Treated, now: datetime
) -> None:
    """Add what was done to the campaign's report, and tell those who hold the work.

    Args:
        part: of the report, "start" or "end".
    """
    campaign.report = added(campaign.report, part, treated.counts)
    notify_all(session, campaign.congregation_id, treated.news, now)


def added(report: Mapping[str, Any], part: str, done: Mapping[str, Any]) -> Json:
    """Return a campaign's report with what was done added to its start or end."""
    before = report.get(part, {})
    counts = Counter({k: n for k, n in before.items() if isinstance(n, int)})
    counts.update({k: n for k, n in done.items() if isinstance(n, int)})
    refused = [*before.get("refused", ()), *done.get("refused", ())][:REFUSED_MAX]
    told: Json = dict(counts) | ({"refused": refused} if refused else {})
    return {**report, part: told}


def _news(campaign: Campaign, kind: str, rows: Sequence[Sequence[Any]]) -> list[News]:
    """Return what the holders of work are told, once for each piece of it.

    Args:
        rows: they begin with the attribution and the member.
    """
    told = {"campaign": campaign.name}
    return [News(kind, row[0], told, member_id=row[1]) for row in rows]
