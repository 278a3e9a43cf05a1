"""What may come next in a search that is being typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.notifications.kinds import CATEGORIES
from tasks.models import (
    Agent,
    Congregation,
    Endpoint,
    Group,
    OutreachCampaign,
    Podcast,
    Rule,
)
from tasks.registry import LANES
from tasks.search.fields import Field, Fields, Kind
from tasks.search.parsing import LENGTH_MAX, Term

#: Completions that are offered at once.
OFFERED_MAX: Final = 12
#: Fields whose values are names of rows -> the column with them.
_NAMES: Final[dict[str, Any]] = {
    "rule": Rule.name,
    "podcast": Podcast.title,
    "congregation": Congregation.slug,
    "endpoint": Endpoint.description,
    "agent": Agent.address,
    "campaign": OutreachCampaign.name,
    "group": Group.name,
}
#: Fields that take a whole word of ours, which may be of another version.
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "lane": tuple(lane.name for lane in LANES),
    "category": tuple(CATEGORIES),
}
_MOMENTS: Final = (">-24h", ">-7d", "<now", "today", "yesterday")
_JOB_MOMENTS: Final = ("today", "tomorrow", "<+24h", "<+7d", "<now")


@dataclass(frozen=True, slots=True)
class Completion:
    """One way to go on."""

    text: str  # the whole search
    says: str


def completions(session: Session, fields: Fields, typed: str) -> list[Completion]:
    """Return how a search may go on, the likeliest first; one query at most."""
    head, word = _last(typed)
    found = _completions(session, fields, head, word)
    fit = (each for each in found if len(each.text) <= LENGTH_MAX)
    return list(islice(fit, OFFERED_MAX))


def _last(typed: str) -> tuple[str, str]:
    """Return what stands before the word that is being typed, and that word.

    >>> _last('state:failed rule:"24h re')
    ('state:failed ', 'rule:"24h re')
    """
    begin, is_quoted = 0, False
    for position, sign in enumerate(typed):
        if sign == '"':
            is_quoted = not is_quoted
        elif sign.isspace() and not is_quoted:
            begin = position + 1
    return typed[:begin], typed[begin:]


def _completions(
    session: Session, fields: Fields, head: str, word: str
) -> Iterator[Completion]:
    is_not = word.startswith("-")
    name, colon, value = word.removeprefix("-").partition(":")
    if colon and name.lower() in fields:
        field = fields[name.lower()]
        for each in _values(session, field, value.strip('"')):
            sign = each[:1] if field.kind is Kind.MOMENT and each[0] in "<>" else ""
            term = Term(field.name, each.removeprefix(sign), sign, is_not)
            yield Completion(f"{head}{term}", field.says)
        return
    for field in fields.values():
        if field.name.startswith(name.lower()):
            yield Completion(f"{head}{'-' * is_not}{field.name}:", field.says)


def _values(session: Session, field: Field, begun: str) -> Iterable[str]:
    if field.name in _NAMES:
        column = _NAMES[field.name]
        like = column.icontains(begun, autoescape=True)
        found = select(column).where(like, column != "").distinct().order_by(column)
        return session.scalars(found.limit(OFFERED_MAX)).all()
    if field.kind is Kind.MOMENT:
        offered: Iterable[str] = _JOB_MOMENTS if field.name == "due" else _MOMENTS
    elif field.kind is Kind.FLAG:
        offered = ("yes", "no")
    else:
        offered = field.words or _WORDS.get(field.name, ())
    return [each for each in offered if begun.lower() in each]
