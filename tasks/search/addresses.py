"""What searches of addresses, and of their syncs, mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_

from tasks.congregation.addresses.keys import street_key
from tasks.models.address import Address, Sync, SyncKind
from tasks.models.long_job import LongJobState
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table

#: How an address stands; each of them is a tab.
STANDS: Final[Mapping[str, ColumnElement[bool]]] = {
    "missing": Address.missing_since.is_not(None),
    "outside": Address.in_territory.is_(False),
    "inactive": Address.is_active.is_(False),
    "placed": Address.is_hand_placed.is_(True),
}
_WORDS_MAX: Final = 6
_FIELDS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), tuple(STANDS), "missing"),
    Field("street", Kind.TEXT, mark("Part of the street’s name"), example="moulin"),
    Field("number", Kind.ID, mark("The number of the house"), example='"12 bis"'),
    Field("postcode", Kind.ID, mark("The postal code"), example="54111"),
    Field("place", Kind.TEXT, mark("Part of the place’s name"), example="nancy"),
    Field("commune", Kind.ID, mark("The code of the commune"), example="54395"),
    Field("missing", Kind.MOMENT, mark("Since when syncs do not find it")),
    Field("known", Kind.FLAG, mark("Whether the last sync found it")),
    Field("made", Kind.MOMENT, mark("When it was made")),
    WHERE,
    ID,
)
_SYNCED: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), tuple(LongJobState), "failed"),
    Field("kind", Kind.WORD, mark("What it read"), tuple(SyncKind)),
    Field("by", Kind.TEXT, mark("Part of who asked for it"), example="anna@"),
    Field("error", Kind.TEXT, mark("Part of the error"), example="timeout"),
    Field("asked", Kind.MOMENT, mark("When it was asked for"), example=">-24h"),
    WHERE,
    ID,
)


def _words(term: Term) -> Condition:
    words = street_key(term.value).split()[:_WORDS_MAX]
    return and_(Address.id.is_not(None), *map(_has, words))


def _has(word: str) -> ColumnElement[bool]:
    """Return that an address has a word: in its street, place, code or number."""
    if word.isdecimal() and len(word) < 5:
        # A door's number, or a part of the street's name: "Rue du 8 Mai".
        return or_(
            Address.key.contains(f" {word:0>5}"), Address.key.contains(f" {word} ")
        )
    if word.isdecimal():
        return or_(Address.postcode == word, Address.insee == word)
    return or_(
        Address.key.contains(word, autoescape=True),
        func.lower(Address.city).contains(word, autoescape=True),
    )


ADDRESSES: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "state": lambda term: STANDS[term.value],
            "street": mean.contains(Address.street),
            "number": mean.equals(Address.number),
            "postcode": mean.equals(Address.postcode),
            "place": mean.contains(Address.city),
            "commune": mean.equals(Address.insee),
            "missing": mean.moment(Address.missing_since),
            "known": flag(Address.in_open_data.is_(True)),
            "made": mean.moment(Address.created_at),
            "congregation": mean.in_congregation(Address.congregation_id),
            "id": mean.is_id(Address.id),
        },
        early=frozenset(_FIELDS),
    ),
    words=_words,
    id=Address.id,
    has_early_words=True,
)
SYNCS: Final = Plain(
    _SYNCED,
    Meanings(
        {
            "state": mean.is_word(Sync.state),
            "kind": mean.is_word(Sync.kind),
            "by": mean.contains(Sync.requested_by),
            "error": mean.contains(Sync.error),
            "asked": mean.moment(Sync.requested_at),
            "congregation": mean.in_congregation(Sync.congregation_id),
            "id": mean.is_id(Sync.id),
        },
        early=frozenset({"asked", "congregation", "id"}),
    ),
    words=mean.contains(Sync.requested_by),
    id=Sync.id,
    order=(Sync.id.desc(),),
)
