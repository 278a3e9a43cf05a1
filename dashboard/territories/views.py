"""The pages of territories: the list, and one of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from flask import Blueprint, request

from dashboard.extensions import db
from dashboard.office import (
    CHOICES_MAX,
    chosen_id,
    member_choices,
    page_size,
    place,
    places,
)
from dashboard.search.views import explains
from dashboard.territories import queries
from dashboard.territories.filters import TerritoryFilter
from dashboard.territories.forms import KINDS, GiftForm
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.days import local_day
from tasks.congregation.territories.giving import USUAL_DAYS, active_campaign
from tasks.congregation.territories.territories import territory

bp: Final = Blueprint("territories", __name__, url_prefix="/territories")


@bp.get("/")
@explains("territories")
def index() -> str:
    """List the territories of a tab."""
    session, form = db.session(), TerritoryFilter.read(request.args)
    wanted, cursor = form.wanted(session, utcnow()), request.args.get("cursor")
    page = queries.listed(session, wanted, cursor, page_size())
    return render(
        "territories/list.html",
        page=page,
        tabs=queries.TABS,
        form=form,
        kinds=KINDS,
        places=places(session),
        today_of=lambda of: local_day(utcnow(), of.timezone),
    )


@bp.get("/<uuid:territory_id>")
def detail(territory_id: UUID) -> str:
    """Show a territory, who works on it, and who did."""
    return page_of(territory_id, None)


def page_of(territory_id: UUID, form: GiftForm | None) -> str:
    """Return a territory's page.

    Args:
        form: what was refused; ``None``: an empty one, filled with what is usual.
    """
    session = db.session()
    row = territory(session, territory_id)
    within = place(session, row.congregation_id)
    campaign = active_campaign(session, row.congregation_id)
    if form is None:
        due = within.today + timedelta(days=USUAL_DAYS)
        form = GiftForm(
            formdata=None,
            started_on=within.today,
            due_on=campaign.ends_on if campaign else due,
            for_campaign=campaign is not None,
        )
    keep = (chosen_id(form.member_id.data),)
    form.offer(member_choices(session, row.congregation_id, keep=keep))
    return render(
        "territories/detail.html",
        ground=queries.ground(session, row),
        row=row,
        place=within,
        today=within.today,
        campaign=campaign,
        history=queries.history(session, row),
        form=form,
        kinds=KINDS,
        choices_max=CHOICES_MAX,
    )
