"""Campaigns and daily caps over HTTP: how often agents are woken on one day."""

from __future__ import annotations

from http import HTTPStatus

from sqlalchemy import select

from dashboard.api.answer import Answer
from dashboard.api.blueprint import OUTREACH, answers, api
from dashboard.api.cursors import page_of
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.models.caps import (
    CampaignAnswer,
    CampaignPath,
    CampaignsAnswer,
    CapIn,
    ContactCapAnswer,
    ContactCapIn,
)
from dashboard.api.models.outreach import (
    AgentAnswer,
    AgentPath,
    Paged,
    RemovedAnswer,
)
from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import Agent, Congregation, OutreachCampaign
from tasks.operations.audit import Actor
from tasks.outreach import campaigns, usage
from tasks.outreach.agents import find_agent, know_agent

_ONE = "/outreach-campaigns/<name>"


@api.get("/outreach-campaigns", tags=[OUTREACH], responses=answers(CampaignsAnswer))
@endpoint("records:read")
def list_campaigns(call: Call, query: Paged) -> Answer:
    """List campaigns, newest first, with what waits for their caps."""
    statement, newest = select(OutreachCampaign), (OutreachCampaign.id.desc(),)
    page = page_of(call.session, statement, newest, query)
    used = usage.of_campaigns(call.session, page.rows, utcnow())
    found = CampaignsAnswer(
        campaigns=[_told(row, used[row.id]) for row in page.rows],
        next_cursor=page.next_cursor,
    )
    return Answer(found.model_dump(mode="json"))


@api.get(_ONE, tags=[OUTREACH], responses=answers(CampaignAnswer))
@endpoint("records:read")
def get_campaign(call: Call, path: CampaignPath) -> Answer:
    """Show a campaign."""
    row = campaigns.get_campaign(call.session, call.congregation_id, path.name)
    return _answer(call, row)


@api.put(_ONE, tags=[OUTREACH], responses=answers(CampaignAnswer, 200, 201))
@endpoint("records:write")
def put_campaign(call: Call, path: CampaignPath, body: CapIn) -> Answer:
    """Set how many wake-ups of a campaign there may be on one local day.

    The others wait for the next day. A cap that grows lets them go at once.
    """
    of, cap = call.congregation_id, body.daily_cap
    row, created = campaigns.save_campaign(
        call.session, of, path.name, cap, _actor(call)
    )
    return _answer(call, row, HTTPStatus.CREATED if created else HTTPStatus.OK)


@api.delete(_ONE, tags=[OUTREACH], responses=answers(RemovedAnswer))
@endpoint("records:write", empty_body=True)
def delete_campaign(call: Call, path: CampaignPath) -> Answer:
    """Remove a campaign; its engagements stay and are in none."""
    row = campaigns.find_campaign(call.session, call.congregation_id, path.name)
    campaigns.remove_campaign(call.session, row, _actor(call))
    return Answer(RemovedAnswer(removed=True).model_dump(mode="json"))


@api.get("/agents/<agent>", tags=[OUTREACH], responses=answers(AgentAnswer))
@endpoint("records:read")
def get_one_agent(call: Call, path: AgentPath) -> Answer:
    """Show an agent."""
    agent = find_agent(call.session, call.congregation_id, path.agent)
    return agent_answer(call, agent)


@api.put("/agents/<agent>", tags=[OUTREACH], responses=answers(AgentAnswer, 200, 201))
@endpoint("records:write")
def put_agent(call: Call, path: AgentPath, body: CapIn) -> Answer:
    """Set how often an agent is woken on one local day; the rest waits."""
    of = call.congregation_id
    agent, created = know_agent(call.session, of, path.agent, utcnow())
    campaigns.cap_agent(call.session, agent, body.daily_cap, _actor(call))
    status = HTTPStatus.CREATED if created else HTTPStatus.OK
    return agent_answer(call, agent, status=status)


@api.get("/outreach-caps", tags=[OUTREACH], responses=answers(ContactCapAnswer))
@endpoint("records:read")
def get_caps(call: Call) -> Answer:
    """Show how many wake-ups may concern one contact on one local day."""
    return _caps(_house(call))


@api.put("/outreach-caps", tags=[OUTREACH], responses=answers(ContactCapAnswer))
@endpoint("records:write")
def put_caps(call: Call, body: ContactCapIn) -> Answer:
    """Set how many wake-ups may concern one contact on one local day."""
    house = _house(call)
    campaigns.cap_contacts(call.session, house, body.contact_daily_cap, _actor(call))
    return _caps(house)


def agent_answer(
    call: Call,
    agent: Agent,
    *,
    n_passed: int = 0,
    status: HTTPStatus = HTTPStatus.OK,
) -> Answer:
    """Return what is told of an agent."""
    used = usage.of_agents(call.session, [agent], utcnow())[agent.id]
    told = AgentAnswer(
        address=agent.address,
        paused=agent.paused_at is not None,
        passed=n_passed,
        daily_cap=agent.daily_cap,
        announced_today=used.n_today,
        waiting=used.n_waiting,
    )
    return Answer(told.model_dump(mode="json"), status)


def _told(row: OutreachCampaign, used: usage.Usage) -> CampaignAnswer:
    return CampaignAnswer(
        name=row.name,
        daily_cap=row.daily_cap,
        announced_today=used.n_today,
        waiting=used.n_waiting,
        created_at=row.created_at,
    )


def _answer(
    call: Call, row: OutreachCampaign, status: HTTPStatus = HTTPStatus.OK
) -> Answer:
    used = usage.of_campaigns(call.session, [row], utcnow())[row.id]
    return Answer(_told(row, used).model_dump(mode="json"), status)


def _house(call: Call) -> Congregation:
    found = call.session.get(Congregation, call.congregation_id)
    if found is None:
        raise NotFound("unknown_congregation", "There is no such congregation.")
    return found


def _caps(house: Congregation) -> Answer:
    told = ContactCapAnswer(contact_daily_cap=house.contact_daily_cap)
    return Answer(told.model_dump(mode="json"))


def _actor(call: Call) -> Actor:
    return Actor(f"token:{call.caller.name}")
