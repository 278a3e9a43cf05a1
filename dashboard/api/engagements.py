"""Engagements over HTTP: agents say when they want to be woken, and by whom."""

from __future__ import annotations

from http import HTTPStatus

from dashboard.api.answer import Answer
from dashboard.api.blueprint import OUTREACH, answers, api
from dashboard.api.caps import agent_answer
from dashboard.api.cursors import page_of
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.models.outreach import (
    AgentAnswer,
    AgentPath,
    ContactAnswer,
    EngagementAnswer,
    EngagementIn,
    EngagementPath,
    EngagementsAnswer,
    EngagementsQuery,
    MessageAnswer,
    MessageIn,
    RemovedAnswer,
)
from dashboard.api.preconditions import etag, expected_version, preconditions
from tasks.models import Agent, Contact, Direction, Engagement, WakeState
from tasks.operations.audit import Actor
from tasks.outreach.agents import find_agent, get_agent, pause_agent, resume_agent
from tasks.outreach.engagements import remove_engagement, save_engagement
from tasks.outreach.finding import Wanted, engagements
from tasks.outreach.looking import unknown_engagement
from tasks.outreach.messages import Mail, note_message

_ONE = "/agents/<agent>/contacts/<address>"


@api.get(
    "/agents/<agent>/contacts", tags=[OUTREACH], responses=answers(EngagementsAnswer)
)
@endpoint("records:read")
def list_engagements(call: Call, path: AgentPath, query: EngagementsQuery) -> Answer:
    """List an agent's engagements, newest first, each with its contact."""
    find_agent(call.session, call.congregation_id, path.agent)
    statement = engagements(
        Wanted(
            agent=path.agent,
            stage=query.stage,
            campaign=query.campaign,
            waiting=query.waiting,
            state=WakeState(query.state) if query.state else None,
            replied=query.replied,
            suppressed=query.suppressed,
            next_action_before=query.next_action_before,
            last_outbound_before=query.last_outbound_before,
        )
    )
    page = page_of(call.session, statement, (Engagement.id.desc(),), query)
    found = EngagementsAnswer(
        engagements=[_told(*row) for row in page.rows], next_cursor=page.next_cursor
    )
    return Answer(found.model_dump(mode="json"))


@api.get(_ONE, tags=[OUTREACH], responses=answers(EngagementAnswer))
@endpoint("records:read")
def get_engagement(call: Call, path: EngagementPath) -> Answer:
    """Show an engagement."""
    return _answer(call, path, HTTPStatus.OK)


@api.put(_ONE, tags=[OUTREACH], responses=answers(EngagementAnswer, 200, 201))
@endpoint("records:write")
def put_engagement(call: Call, path: EngagementPath, body: EngagementIn) -> Answer:
    """Enrol a contact, or change its engagement.

    A contact that is not known yet is made. Another next_action_at wakes the agent
    again, the same one does not.
    """
    with preconditions():
        saved = save_engagement(
            call.session,
            call.congregation_id,
            path.agent,
            path.address,
            body.given(),
            expected=expected_version(),
        )
    return _answer(call, path, HTTPStatus.CREATED if saved.created else HTTPStatus.OK)


@api.delete(_ONE, tags=[OUTREACH], responses=answers(RemovedAnswer))
@endpoint("records:write", empty_body=True)
def delete_engagement(call: Call, path: EngagementPath) -> Answer:
    """Remove an engagement; its contact and its suppressions stay."""
    with preconditions():
        remove_engagement(
            call.session,
            call.congregation_id,
            path.agent,
            path.address,
            expected=expected_version(),
        )
    return Answer(RemovedAnswer(removed=True).model_dump(mode="json"))


@api.post(f"{_ONE}/messages", tags=[OUTREACH], responses=answers(MessageAnswer))
@endpoint("records:write")
def post_message(call: Call, path: EngagementPath, body: MessageIn) -> Answer:
    """Report that a mail went out to a contact, or came from it."""
    mail = Mail(
        Direction(body.direction), body.message_id, body.at, body.conversation_id
    )
    noted = note_message(
        call.session, call.congregation_id, path.agent, path.address, mail
    )
    told = MessageAnswer(counted=noted.is_new, stopped=noted.stopped)
    return Answer(told.model_dump(mode="json"))


@api.post("/agents/<agent>/pause", tags=[OUTREACH], responses=answers(AgentAnswer))
@endpoint("records:write", empty_body=True)
def post_pause(call: Call, path: AgentPath) -> Answer:
    """Wake an agent no more."""
    agent = get_agent(call.session, call.congregation_id, path.agent)
    if agent.paused_at is None:
        pause_agent(call.session, agent, _actor(call))
    return agent_answer(call, agent)


@api.post("/agents/<agent>/resume", tags=[OUTREACH], responses=answers(AgentAnswer))
@endpoint("records:write", empty_body=True)
def post_resume(call: Call, path: AgentPath) -> Answer:
    """Wake an agent again; what came due meanwhile wakes it no more."""
    agent = get_agent(call.session, call.congregation_id, path.agent)
    n_passed = 0
    if agent.paused_at is not None:
        n_passed = resume_agent(call.session, agent, _actor(call))
    return agent_answer(call, agent, n_passed=n_passed)


def _actor(call: Call) -> Actor:
    return Actor(f"token:{call.caller.name}")


def _answer(call: Call, path: EngagementPath, status: HTTPStatus) -> Answer:
    statement = engagements(Wanted(agent=path.agent, address=path.address))
    found = call.session.execute(statement).one_or_none()
    if found is None:
        raise unknown_engagement()
    row, contact, agent, is_suppressed = found
    told = _told(row, contact, agent, is_suppressed)
    return Answer(told.model_dump(mode="json"), status, etag(row.version))


def _told(
    row: Engagement, contact: Contact, agent: Agent, is_suppressed: bool
) -> EngagementAnswer:
    names = EngagementAnswer.model_fields.keys()
    values = {name: getattr(row, name) for name in names if hasattr(row, name)}
    return EngagementAnswer.model_validate(
        values
        | {
            "agent": agent.address,
            "state": str(row.wake_state),
            "metadata": row.details,
            "paused": row.paused_at is not None or agent.paused_at is not None,
            "suppressed": is_suppressed,
            "replied": row.has_replied,
            "contact": ContactAnswer.model_validate(contact),
        }
    )
