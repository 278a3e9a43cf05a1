"""What searches of engagements and of contacts mean."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import aliased

from tasks.models.contact import Contact, ContactSource
from tasks.models.engagement import Agent, Engagement, PassedBecause, WakeState
from tasks.models.suppression import Suppression
from tasks.outreach.finding import has_replied
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import NAMED_MAX, Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, begins, flag, table

_MADE: Final = Field("made", Kind.MOMENT, mark("When it was made"))
_ENGAGED: Final = table(
    Field("state", Kind.WORD, mark("How its schedule stands"), tuple(WakeState)),
    Field("agent", Kind.TEXT, mark("Part of the agent’s address"), example="sales@"),
    Field("contact", Kind.TEXT, mark("Part of the contact’s name or address")),
    Field("stage", Kind.TEXT, mark("Part of the stage"), example="intro"),
    Field("campaign", Kind.ID, mark("The campaign’s name"), example="spring"),
    Field("next", Kind.MOMENT, mark("When it is looked at next"), example="<now"),
    Field("waits", Kind.FLAG, mark("Whether quiet hours or a cap hold it back")),
    Field("mailed", Kind.FLAG, mark("Whether the contact was ever written to")),
    Field("replied", Kind.FLAG, mark("Whether the contact has replied")),
    Field("suppressed", Kind.FLAG, mark("Whether the address is stopped")),
    Field("paused", Kind.FLAG, mark("Whether it, or its agent, is paused")),
    Field("passed", Kind.WORD, mark("Why its schedule passed"), tuple(PassedBecause)),
    _MADE,
    WHERE,
    ID,
)
_CONTACTED: Final = table(
    Field("address", Kind.TEXT, mark("Part of the address"), example="@example.org"),
    Field("name", Kind.TEXT, mark("Part of the name"), example="anna"),
    Field("source", Kind.WORD, mark("Who made it known"), tuple(ContactSource)),
    Field("import", Kind.UUID, mark("The id of the list that made it")),
    _MADE,
    WHERE,
    ID,
)


def _agents(condition: ColumnElement[bool]) -> Condition:
    return Engagement.agent_id.in_(select(Agent.id).where(condition))


def _agent(term: Term) -> Condition:
    return _agents(mean.has(Agent.address, term.value))


def _contact(term: Term) -> Condition:
    named = Contact.display_name.icontains(term.value, autoescape=True)
    ids = select(Contact.id).where(named).limit(NAMED_MAX)
    has = mean.has(Engagement.address, term.value)
    return or_(has, Engagement.contact_id.in_(ids))


def is_stopped() -> ColumnElement[bool]:
    """Return whether an engagement's agent may not write to its address.

    As ``tasks.outreach.claiming.is_suppressed``, for statements without the agent.
    """
    writer = aliased(Agent)
    own = select(writer.address).where(writer.id == Engagement.agent_id)
    agents: Any = own.correlate(Engagement).scalar_subquery()
    return (
        select(Suppression.id)
        .where(
            Suppression.congregation_id == Engagement.congregation_id,
            Suppression.address == Engagement.address,
            or_(Suppression.agent == "", Suppression.agent == agents),
        )
        .correlate(Engagement)
        .exists()
    )


ENGAGEMENTS: Final = Plain(
    _ENGAGED,
    Meanings(
        {
            "state": mean.is_word(Engagement.wake_state),
            "agent": _agent,
            "contact": _contact,
            "stage": mean.contains(Engagement.stage),
            "campaign": mean.equals(Engagement.campaign),
            "next": mean.moment(Engagement.next_action_at),
            "waits": flag(Engagement.waits_for.is_not(None)),
            "mailed": flag(Engagement.first_outbound_at.is_not(None)),
            "replied": flag(has_replied()),
            "suppressed": flag(is_stopped()),
            "paused": flag(
                or_(
                    Engagement.paused_at.is_not(None),
                    _agents(Agent.paused_at.is_not(None)),
                )
            ),
            "passed": mean.is_word(Engagement.passed_because),
            "made": mean.born(Engagement.id),
            "congregation": mean.in_congregation(Engagement.congregation_id),
            "id": mean.is_id(Engagement.id),
        },
        # What the tabs ask is looked for in all of them.
        early=frozenset(_ENGAGED) - {"contact", "stage", "paused", "passed"},
    ),
    words=begins(Engagement.address),
    id=Engagement.id,
    order=(Engagement.id.desc(),),
    has_early_words=True,
)
CONTACTS: Final = Plain(
    _CONTACTED,
    Meanings(
        {
            "address": mean.contains(Contact.address),
            "name": mean.contains(Contact.display_name),
            "source": mean.is_word(Contact.source),
            "import": mean.is_id(Contact.import_id),
            "made": mean.born(Contact.id),
            "congregation": mean.in_congregation(Contact.congregation_id),
            "id": mean.is_id(Contact.id),
        },
        early=frozenset({"import", "made", "congregation", "id"}),
    ),
    words=begins(Contact.address),
    id=Contact.id,
    order=(Contact.id.desc(),),
    has_early_words=True,
)
