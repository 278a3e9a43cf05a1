"""The pages of campaigns: the year, and one of them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import Blueprint, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.campaigns import queries
from dashboard.campaigns.filters import CampaignFilter
from dashboard.campaigns.forms import ENDS, STARTS
from dashboard.campaigns.year import WIDTH, months, strip
from dashboard.extensions import db
from dashboard.office import attempt, page_size, place, places
from dashboard.search.views import explains
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.campaigns import foretelling, work
from tasks.congregation.campaigns.reassigning import WHY
from tasks.congregation.campaigns.saving import delete_campaign, end_campaign
from tasks.congregation.campaigns.transitions import COUNTS
from tasks.models import CampaignState
from tasks.saying import say

bp: Final = Blueprint("campaigns", __name__, url_prefix="/campaigns")

#: Years that the strip shows: others are slips of the keyboard.
_YEARS: Final = range(1970, 3000)


@bp.get("/")
@explains("campaigns")
def index() -> str:
    """Show a year of campaigns, and list all of them, the latest first."""
    session, now, form = db.session(), utcnow(), CampaignFilter.read(request.args)
    today = now.date()
    asked = request.args.get("year", today.year, type=int)
    number = asked if asked in _YEARS else today.year
    wanted, cursor = form.conditions(now), request.args.get("cursor")
    return render(
        "campaigns/list.html",
        page=queries.listed(session, wanted, cursor, page_size()),
        form=form,
        year=strip(number, queries.of_year(session, number), today),
        months=months(),
        width=WIDTH,
        places=places(session),
    )


@bp.get("/<uuid:campaign_id>")
def detail(campaign_id: UUID) -> str:
    """Show a campaign: what it did, and what it will do."""
    session = db.session()
    row = queries.campaign(session, campaign_id)
    within = place(session, row.congregation_id)
    starting = ending = None
    if row.state is CampaignState.SCHEDULED:
        piece = work.covered(session, row)
        starting = foretelling.start(session, row, piece, within.today)
    elif row.state is CampaignState.ACTIVE:
        ending = foretelling.end(session, row, work.everything())
    return render(
        "campaigns/detail.html",
        row=row,
        place=within,
        scope=queries.scope(session, row),
        starting=starting,
        ending=ending,
        still_paused=queries.still_paused(session, row),
        refused=queries.refused(session, row),
        why=WHY,
        words=COUNTS,
        starts=STARTS,
        ends=ENDS,
    )


@bp.post("/<uuid:campaign_id>/end")
def end(campaign_id: UUID) -> ResponseReturnValue:
    """End a campaign today."""
    return attempt(
        lambda session, who, now: end_campaign(session, campaign_id, who, now),
        say("The campaign is over."),
        url_for(".detail", campaign_id=campaign_id),
    )


@bp.post("/<uuid:campaign_id>/delete")
def delete(campaign_id: UUID) -> ResponseReturnValue:
    """Delete a campaign that is to come, or was missed."""
    return attempt(
        lambda session, who, now: delete_campaign(session, campaign_id, who, now),
        say("The campaign is deleted."),
        url_for(".index"),
    )
