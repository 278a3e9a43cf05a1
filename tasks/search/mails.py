"""What searches of notification mails and of stopped addresses mean."""

from __future__ import annotations

from typing import Final

from sqlalchemy import or_, select

from tasks.models.member import Account
from tasks.models.notification import Digest, DigestMail, MailState
from tasks.models.reason import Reason
from tasks.models.suppression import Suppression, SuppressionReason
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import NAMED_MAX, Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, begins, table

_MAILED: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), tuple(MailState), "failed"),
    Field("to", Kind.TEXT, mark("Part of the recipient’s name or address")),
    Field("category", Kind.ID, mark("What it tells of"), example="territory"),
    Field("error", Kind.TEXT, mark("Part of the last error"), example="timeout"),
    Field("reason", Kind.WORD, mark("Why it waits, or ended"), tuple(Reason)),
    Field("tries", Kind.NUMBER, mark("How often it was tried")),
    Field("made", Kind.MOMENT, mark("When it was made")),
    WHERE,
    ID,
)
_STOPPED: Final = table(
    Field("address", Kind.TEXT, mark("Part of the address"), example="@example.org"),
    Field("reason", Kind.WORD, mark("Why it is stopped"), tuple(SuppressionReason)),
    Field("agent", Kind.TEXT, mark("Part of the address of the one agent it is for")),
    Field("by", Kind.TEXT, mark("Part of who stopped it"), example="anna@"),
    Field("since", Kind.MOMENT, mark("When it was stopped")),
    WHERE,
    ID,
)


def _to(term: Term) -> Condition:
    is_meant = mean.any_contains((Account.email, Account.name), term.value)
    ids = select(Account.id).where(is_meant).limit(NAMED_MAX)
    return DigestMail.account_id.in_(ids)


def _category(term: Term) -> Condition:
    of = select(Digest.id).where(Digest.category == term.value)
    return DigestMail.digest_id.in_(of)


_error: Final = mean.contains(DigestMail.error)

MAILS: Final = Plain(
    _MAILED,
    Meanings(
        {
            "state": mean.is_word(DigestMail.state),
            "to": _to,
            "category": _category,
            "error": _error,
            "reason": mean.is_word(DigestMail.reason),
            "tries": mean.number(DigestMail.attempt),
            "made": mean.born(DigestMail.id),
            "congregation": mean.in_congregation(DigestMail.congregation_id),
            "id": mean.is_id(DigestMail.id),
        },
        early=frozenset({"state", "made", "congregation", "id"}),
    ),
    words=lambda term: or_(_to(term), _error(term)),
    id=DigestMail.id,
    order=(DigestMail.id.desc(),),
)
SUPPRESSIONS: Final = Plain(
    _STOPPED,
    Meanings(
        {
            "address": mean.contains(Suppression.address),
            "reason": mean.is_word(Suppression.reason),
            "agent": mean.contains(Suppression.agent),
            "by": mean.contains(Suppression.created_by),
            "since": mean.moment(Suppression.created_at),
            "congregation": mean.in_congregation(Suppression.congregation_id),
            "id": mean.is_id(Suppression.id),
        },
        early=frozenset({"since", "congregation", "id"}),
    ),
    words=begins(Suppression.address),
    id=Suppression.id,
    order=(Suppression.created_at.desc(), Suppression.id.desc()),
    has_early_words=True,
)
