"""What searches of agents, of outreach campaigns and of imported lists mean."""

from __future__ import annotations

from typing import Final

from sqlalchemy import func, or_

from tasks.models.contact import ContactImport
from tasks.models.engagement import Agent
from tasks.models.outreach_campaign import OutreachCampaign
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table

_MADE: Final = Field("made", Kind.MOMENT, mark("When it was made"))
_CAP: Final = (
    Field("cap", Kind.NUMBER, mark("How often it is woken on one day"), example="<20"),
    Field("capped", Kind.FLAG, mark("Whether it has a daily cap")),
)
_AGENTS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), ("active", "paused"), "paused"),
    Field("address", Kind.TEXT, mark("Part of the address"), example="sales@"),
    *_CAP,
    Field("paused", Kind.MOMENT, mark("When it was paused"), example="<-7d"),
    _MADE,
    WHERE,
    ID,
)
_CAMPAIGNS: Final = table(
    Field("name", Kind.TEXT, mark("Part of its name"), example="spring"),
    *_CAP,
    _MADE,
    WHERE,
    ID,
)
_IMPORTS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), ("kept", "undone"), "undone"),
    Field("file", Kind.TEXT, mark("Part of the file’s name"), example=".csv"),
    Field("source", Kind.WORD, mark("How it came here"), ("file", "api")),
    Field("by", Kind.TEXT, mark("Part of who imported it"), example="anna@"),
    Field("new", Kind.NUMBER, mark("How many contacts it made"), example=">100"),
    Field("made", Kind.MOMENT, mark("When it was imported")),
    Field("undone", Kind.MOMENT, mark("When it was taken back"), example=">-7d"),
    WHERE,
    ID,
)


def _file(term: Term) -> Condition:
    return mean.contains(ContactImport.filename)(term)


def _words(term: Term) -> Condition:
    return or_(_file(term), mean.contains(ContactImport.created_by)(term))


AGENTS: Final = Plain(
    _AGENTS,
    Meanings(
        {
            "state": lambda term: (
                Agent.paused_at.is_not(None)
                if term.value == "paused"
                else Agent.paused_at.is_(None)
            ),
            "address": mean.contains(Agent.address),
            "cap": mean.number(Agent.daily_cap),
            "capped": flag(Agent.daily_cap.is_not(None)),
            "paused": mean.moment(Agent.paused_at),
            "made": mean.moment(Agent.created_at),
            "congregation": mean.in_congregation(Agent.congregation_id),
            "id": mean.is_id(Agent.id),
        },
        early=frozenset(_AGENTS),
    ),
    words=mean.contains(Agent.address),
    id=Agent.id,
    has_early_words=True,
)
OUTREACH_CAMPAIGNS: Final = Plain(
    _CAMPAIGNS,
    Meanings(
        {
            "name": mean.contains(OutreachCampaign.name),
            "cap": mean.number(OutreachCampaign.daily_cap),
            "capped": flag(OutreachCampaign.daily_cap.is_not(None)),
            "made": mean.moment(OutreachCampaign.created_at),
            "congregation": mean.in_congregation(OutreachCampaign.congregation_id),
            "id": mean.is_id(OutreachCampaign.id),
        },
        early=frozenset(_CAMPAIGNS),
    ),
    words=mean.contains(OutreachCampaign.name),
    id=OutreachCampaign.id,
    has_early_words=True,
)
#: Applications import without an end, so only the newest are looked at as a whole.
CONTACT_IMPORTS: Final = Plain(
    _IMPORTS,
    Meanings(
        {
            "state": lambda term: (
                ContactImport.undone_at.is_not(None)
                if term.value == "undone"
                else ContactImport.undone_at.is_(None)
            ),
            "file": _file,
            "source": lambda term: (
                ContactImport.filename == ""
                if term.value == "api"
                else ContactImport.filename != ""
            ),
            "by": mean.contains(ContactImport.created_by),
            "new": mean.number(
                func.coalesce(ContactImport.counts["created"].as_integer(), 0)
            ),
            "made": mean.moment(ContactImport.created_at),
            "undone": mean.moment(ContactImport.undone_at),
            "congregation": mean.in_congregation(ContactImport.congregation_id),
            "id": mean.is_id(ContactImport.id),
        },
        early=frozenset({"made", "congregation", "id"}),
    ),
    words=_words,
    id=ContactImport.id,
    order=(ContactImport.created_at.desc(), ContactImport.id.desc()),
)
