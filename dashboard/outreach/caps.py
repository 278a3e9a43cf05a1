"""Campaigns and daily caps: who is woken how often on one day, and who waits."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.outreach import cap_queries as queries
from dashboard.outreach.cap_forms import CampaignForm, CapForm
from dashboard.outreach.filters import CampaignFilter
from dashboard.outreach.views import bp
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.outreach import agents as agent_engine
from tasks.outreach import campaigns as engine
from tasks.saying import say


@bp.get("/campaigns")
@explains("outreach-campaigns")
def campaigns() -> str:
    """List campaigns, newest first, and the caps of contacts."""
    form, now = CampaignFilter.read(request.args), utcnow()
    limit = current_app.config["CARILLON"].page_size
    wanted, cursor = form.conditions(now), request.args.get("cursor")
    page = queries.campaigns(db.session(), wanted, now, cursor, limit)
    houses = queries.houses(db.session())
    return render("outreach/campaigns.html", page=page, form=form, houses=houses)


@bp.get("/campaigns/new")
@require("operator")
def new_campaign() -> str:
    """Show the form of a new campaign."""
    return _new_form(CampaignForm())


@bp.post("/campaigns")
def create_campaign() -> ResponseReturnValue:
    """Add a campaign, or give one of this name another cap."""
    form = CampaignForm()
    try:
        row, created = engine.save_campaign(
            db.session(), form.congregation, form.name.data, form.cap, actor()
        )
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _new_form(form), 422
    db.session.commit()
    if created:
        done = say("The campaign %(name)s is added.", name=row.name)
    else:
        done = say(
            "The campaign %(name)s is known already, and has this cap now.",
            name=row.name,
        )
    flash(done, "success")
    return redirect(url_for(".campaigns"), 303)


@bp.get("/campaigns/<uuid:outreach_campaign_id>")
def campaign(outreach_campaign_id: UUID) -> str:
    """Show the cap of a campaign, and how much of it is used."""
    return _campaign_page(outreach_campaign_id, None)


@bp.post("/campaigns/<uuid:outreach_campaign_id>")
def cap_campaign(outreach_campaign_id: UUID) -> ResponseReturnValue:
    """Give a campaign another cap."""
    row, form = engine.campaign_by_id(db.session(), outreach_campaign_id), CapForm()
    try:
        of, name = row.congregation_id, row.name
        engine.save_campaign(db.session(), of, name, form.cap, actor())
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _campaign_page(outreach_campaign_id, form), 422
    db.session.commit()
    flash(say("Saved: %(told)s for %(name)s.", told=form.told, name=name), "success")
    return redirect(url_for(".campaigns"), 303)


@bp.post("/campaigns/<uuid:outreach_campaign_id>/remove")
def remove_campaign(outreach_campaign_id: UUID) -> ResponseReturnValue:
    """Remove a campaign; its engagements stay."""
    row = engine.campaign_by_id(db.session(), outreach_campaign_id)
    engine.remove_campaign(db.session(), row, actor())
    db.session.commit()
    flash(
        say("The campaign %(name)s is removed; its engagements stay.", name=row.name),
        "success",
    )
    return redirect(url_for(".campaigns"), 303)


@bp.get("/agents/<uuid:agent_id>/cap")
def agent_cap(agent_id: UUID) -> str:
    """Show the form of an agent's cap."""
    return _agent_page(agent_id, None)


@bp.post("/agents/<uuid:agent_id>/cap")
def set_agent_cap(agent_id: UUID) -> ResponseReturnValue:
    """Give an agent another cap."""
    agent, form = agent_engine.agent_by_id(db.session(), agent_id), CapForm()
    try:
        engine.cap_agent(db.session(), agent, form.cap, actor())
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _agent_page(agent_id, form), 422
    db.session.commit()
    flash(
        say("Saved: %(told)s for %(address)s.", told=form.told, address=agent.address),
        "success",
    )
    return redirect(url_for(".agents"), 303)


@bp.get("/contact-cap/<slug>")
def contact_cap(slug: str) -> str:
    """Show the form of the cap of each contact of a congregation."""
    return _house_page(slug, None)


@bp.post("/contact-cap/<slug>")
def set_contact_cap(slug: str) -> ResponseReturnValue:
    """Give each contact of a congregation another cap."""
    house, form = queries.house(db.session(), slug), CapForm()
    try:
        engine.cap_contacts(db.session(), house, form.cap, actor())
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _house_page(slug, form), 422
    db.session.commit()
    flash(
        say(
            "Saved: %(told)s for each contact of %(name)s.",
            told=form.told,
            name=house.name,
        ),
        "success",
    )
    return redirect(url_for(".campaigns"), 303)


def _new_form(form: CampaignForm) -> str:
    form.offer(queries.houses(db.session()))
    return render("outreach/campaign_new.html", form=form)


def _campaign_page(campaign_id: UUID, form: CapForm | None) -> str:
    row = queries.campaign(db.session(), campaign_id, utcnow())
    form = form or CapForm.of(row.campaign.daily_cap)
    return render("outreach/campaign.html", row=row, form=form)


def _agent_page(agent_id: UUID, form: CapForm | None) -> str:
    agent = agent_engine.agent_by_id(db.session(), agent_id)
    return render(
        "outreach/cap.html",
        form=form or CapForm.of(agent.daily_cap),
        name=agent.address,
        what=say("How often this agent is woken on one day, for all of its contacts."),
        back=url_for(".agents"),
    )


def _house_page(slug: str, form: CapForm | None) -> str:
    house = queries.house(db.session(), slug)
    return render(
        "outreach/cap.html",
        form=form or CapForm.of(house.contact_daily_cap),
        name=say("Each contact of %(name)s", name=house.name),
        what=say(
            "How many times a day one contact may be the reason to wake agents, "
            "all agents together."
        ),
        back=url_for(".campaigns"),
    )
