"""The page of agents: who is woken, and who is paused."""

from __future__ import annotations

from uuid import UUID

from flask import current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filters import plural
from dashboard.outreach import queries
from dashboard.outreach.filters import AgentFilter
from dashboard.outreach.views import bp
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.outreach import agents as engine
from tasks.outreach.usage import of_agents
from tasks.saying import say


@bp.get("/agents")
@explains("agents")
def agents() -> str:
    """List agents by address."""
    form = AgentFilter.read(request.args)
    limit = current_app.config["CARILLON"].page_size
    session, now = db.session(), utcnow()
    wanted, cursor = form.conditions(now), request.args.get("cursor")
    page = queries.agents(session, wanted, now, cursor, limit)
    usage = of_agents(session, [row.agent for row in page.rows], now)
    return render("outreach/agents.html", page=page, form=form, usage=usage)


@bp.post("/agents/<uuid:agent_id>/pause")
def pause_agent(agent_id: UUID) -> ResponseReturnValue:
    """Wake an agent no more."""
    agent = engine.agent_by_id(db.session(), agent_id)
    engine.pause_agent(db.session(), agent, actor())
    db.session.commit()
    flash(
        say("%(address)s is paused: what comes due passes.", address=agent.address),
        "success",
    )
    return redirect(url_for(".agents"), 303)


@bp.post("/agents/<uuid:agent_id>/resume")
def resume_agent(agent_id: UUID) -> ResponseReturnValue:
    """Wake an agent again."""
    agent = engine.agent_by_id(db.session(), agent_id)
    n = engine.resume_agent(db.session(), agent, actor())
    db.session.commit()
    past = (
        say(
            " %(schedules)s that came due meanwhile stay passed.",
            schedules=plural(n, "schedule"),
        )
        if n
        else ""
    )
    flash(say("%(address)s is woken again.", address=agent.address) + past, "success")
    return redirect(url_for(".agents"), 303)


@bp.post("/agents/<uuid:agent_id>/remove")
@require("admin")
def remove_agent(agent_id: UUID) -> ResponseReturnValue:
    """Remove an agent with its engagements."""
    agent = engine.agent_by_id(db.session(), agent_id)
    engine.remove_agent(db.session(), agent, actor())
    db.session.commit()
    flash(
        say("%(address)s is removed, with its engagements.", address=agent.address),
        "success",
    )
    return redirect(url_for(".agents"), 303)
