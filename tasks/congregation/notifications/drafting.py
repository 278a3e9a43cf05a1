"""What accounts would get right now: the one answer for the lane and for the console.

It reads and decides, and changes nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Message
from tasks.bulk import among
from tasks.congregation.notifications.composing import (
    Entry,
    Recipient,
    message_of,
    values_of,
)
from tasks.congregation.notifications.entities import facts_of
from tasks.congregation.notifications.kind import Facts
from tasks.congregation.notifications.kinds import KINDS
from tasks.congregation.notifications.wishes import Wishes, wishes_of
from tasks.congregation.notifications.words import Words
from tasks.models.congregation import Congregation
from tasks.models.notification import Notification
from tasks.models.reason import SENTENCES, Reason
from tasks.outbound.mailboxes import BadAddress, read_address
from tasks.saying import say


class Ask(NamedTuple):
    """What one account is to be told."""

    account_id: UUID
    notifications: Sequence[Notification]


@dataclass(frozen=True, slots=True)
class Draft:
    """One account's mail as it would leave now, or why there is none."""

    message: Message | None
    reason: Reason | None = None  # why there is none
    error: str | None = None  # a sentence, when it should have been one
    #: Notifications that are not in it -> why.
    left_out: Mapping[UUID, Reason] = field(default_factory=dict)


#: Entities of one congregation and type -> their facts, by id.
_Facts = Mapping[tuple[UUID, str], Mapping[str, Facts]]


def drafts(session: Session, asks: Sequence[Ask]) -> list[Draft]:
    """Return the mail of each ask, all of them read together."""
    wishes = wishes_of(session, sorted({ask.account_id for ask in asks}))
    several = [each for ask in asks for each in ask.notifications]
    facts = _facts(session, several)
    congregations = _congregations(session, {row.congregation_id for row in several})
    return [
        _draft(ask, wishes.get(ask.account_id), facts, congregations) for ask in asks
    ]


def _facts(session: Session, rows: Sequence[Notification]) -> _Facts:
    wanted: defaultdict[tuple[UUID, str], set[str]] = defaultdict(set)
    for row in rows:
        wanted[row.congregation_id, row.entity_type].add(row.entity_id)
    return {
        (of, type_): facts_of(session, of, type_, sorted(ids))
        for (of, type_), ids in wanted.items()
    }


def _congregations(session: Session, ids: set[UUID]) -> Mapping[UUID, Congregation]:
    rows = session.scalars(
        select(Congregation)
        .where(among(session, Congregation.id, sorted(ids)))
        .execution_options(populate_existing=True)
    )
    return {row.id: row for row in rows}


def _draft(
    ask: Ask,
    wishes: Wishes | None,
    facts: _Facts,
    congregations: Mapping[UUID, Congregation],
) -> Draft:
    left_out: dict[UUID, Reason] = {}
    entries: list[Entry] = []
    for row in ask.notifications:
        entry = _entry(row, wishes, facts)
        if isinstance(entry, Reason):
            left_out[row.id] = entry
        else:
            entries.append(entry)
    if not entries or wishes is None:
        (reason, _), *_ = Counter(left_out.values()).most_common(1) or [
            (Reason.NO_RECIPIENT, 0)
        ]
        return Draft(None, reason, left_out=left_out)
    of = congregations[ask.notifications[0].congregation_id]
    try:
        address = read_address(wishes.account.email)
        message = message_of(_recipient(wishes, address, of), entries)
    except BadAddress as error:
        return Draft(None, Reason.NO_RECIPIENT, str(error), left_out)
    except KeyError as error:  # one text's mistake must not stop the others' mails
        return Draft(None, Reason.BAD_MESSAGE, f"There is no value {error}.", left_out)
    return Draft(message, left_out=left_out)


def _entry(row: Notification, wishes: Wishes | None, facts: _Facts) -> Entry | Reason:
    kind = KINDS.get(row.type)
    if wishes is None:
        return Reason.ACCOUNT_CLOSED
    if kind is None:  # a type of another version
        return Reason.BAD_MESSAGE
    if (reason := wishes.why_not(kind)) is not None:
        return reason
    read = facts.get((row.congregation_id, row.entity_type), {}).get(row.entity_id)
    if read is None or not (kind.holds is None or kind.holds(read)):
        return Reason.ENTITY_GONE
    try:
        entry = Entry(kind, values_of(kind, row.payload, read))
    except (KeyError, ValueError, TypeError):
        return Reason.BAD_MESSAGE
    return entry


def _recipient(wishes: Wishes, address: str, of: Congregation) -> Recipient:
    account = wishes.account
    words = Words.of(account.locale or of.locale, account.timezone or of.timezone)
    return Recipient(address, account.name, words, of.name)


def sentence_of(draft: Draft) -> str:
    """Return why a draft has no message, for people; empty when it has one."""
    if draft.message is not None or draft.reason is None:
        return ""
    return draft.error or say(SENTENCES[draft.reason])
