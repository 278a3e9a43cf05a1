"""Making campaigns, changing them, and seeing before what they would do."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectChoice

from dashboard.campaigns import queries
from dashboard.campaigns.forms import CampaignForm
from dashboard.campaigns.views import bp
from dashboard.extensions import db
from dashboard.filters import day
from dashboard.office import Place, chosen_place, place, places
from dashboard.security import actor, require
from dashboard.territories.queries import numbers
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.campaigns import foretelling
from tasks.congregation.campaigns.drafts import checked
from tasks.congregation.campaigns.foretelling import Foretold
from tasks.congregation.campaigns.saving import create_campaign, edit_campaign
from tasks.congregation.campaigns.scope import scope_of
from tasks.congregation.campaigns.transitions import COUNTS
from tasks.errors import InvalidInput
from tasks.models import Campaign, CampaignState
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class Preview:
    """What the campaign would do if it were kept as the form says."""

    start: Foretold
    n_paused: int  # what its end would find, if nobody acts meanwhile


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new campaign; its congregation is asked for first."""
    within = chosen_place()
    form = CampaignForm(formdata=None)
    return _new(form, within)


@bp.post("/")
def create() -> ResponseReturnValue:
    """Add a campaign, or only show what it would do."""
    session, form, within = db.session(), CampaignForm(), chosen_place()
    if within is None or not form.validate_on_submit():
        return _new(form, within), 422
    try:
        if "preview" in request.form:
            return _new(form, within, _preview(form, within))
        row = create_campaign(session, within.id, form.draft(), actor(), utcnow())
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _new(form, within), 422
    db.session.commit()
    flash(_kept(row), "success")
    return redirect(url_for(".detail", campaign_id=row.id), 303)


@bp.get("/<uuid:campaign_id>/edit")
@require("operator")
def edit(campaign_id: UUID) -> str:
    """Show the form of a campaign."""
    row = queries.campaign(db.session(), campaign_id)
    return _edit(CampaignForm.of(row, scope_of(db.session(), row)), row)


@bp.post("/<uuid:campaign_id>")
def update(campaign_id: UUID) -> ResponseReturnValue:
    """Change a campaign, or only show what it would do."""
    session, form = db.session(), CampaignForm()
    row = queries.campaign(session, campaign_id)
    if not form.validate_on_submit():
        return _edit(form, row), 422
    version = request.form.get("version", type=int)
    try:
        if "preview" in request.form:
            within = place(session, row.congregation_id)
            return _edit(form, row, _preview(form, within))
        row = edit_campaign(
            session, campaign_id, form.draft(), actor(), utcnow(), version=version
        )
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _edit(form, queries.campaign(session, campaign_id)), 422
    db.session.commit()
    flash(_kept(row), "success")
    return redirect(url_for(".detail", campaign_id=campaign_id), 303)


def _kept(row: Campaign) -> str:
    """Return what the page says after a campaign was saved."""
    name, first, last = row.name, day(row.starts_on), day(row.ends_on)
    match row.state:
        case CampaignState.SCHEDULED:
            return say("%(name)s is saved: it starts on %(day)s.", name=name, day=first)
        case CampaignState.ACTIVE:
            return say("%(name)s is saved: it runs until %(day)s.", name=name, day=last)
        case CampaignState.ENDED:
            return say("%(name)s is saved: it is over.", name=name)
        case CampaignState.MISSED:
            return say("%(name)s is saved: it was missed.", name=name)


def _preview(form: CampaignForm, within: Place) -> Preview:
    session = db.session()
    values = checked(session, within.id, form.draft())
    imagined = foretelling.imagined(within.id, values)
    piece = foretelling.piece_of(session, values.territory_ids)
    start = foretelling.start(session, imagined, piece, within.today)
    return Preview(start, start.counts.get("paused", 0))


def _offer(form: CampaignForm, congregation_id: UUID) -> None:
    form.territory_ids.choices = [
        SelectChoice(str(id_), f"{number} {name}".strip())
        for id_, number, name in numbers(db.session(), congregation_id)
    ]


def _new(
    form: CampaignForm, within: Place | None, preview: Preview | None = None
) -> str:
    if within is not None:
        _offer(form, within.id)
    return render(
        "campaigns/new.html",
        form=form,
        within=within,
        places=places(db.session()),
        preview=preview,
        words=COUNTS,
    )


def _edit(form: CampaignForm, row: Campaign, preview: Preview | None = None) -> str:
    _offer(form, row.congregation_id)
    return render(
        "campaigns/edit.html", form=form, row=row, preview=preview, words=COUNTS
    )
