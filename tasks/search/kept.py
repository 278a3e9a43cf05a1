"""What searches of a ledger of erasures, and of a rule's versions, mean.

Both are lists within a thing, of which all rows are looked at.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final
from uuid import UUID

from sqlalchemy import or_

from tasks.models.erasure import Erased, Erasure
from tasks.models.rule import RuleVersion
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, Plain, flag, table

#: How a version came about, as ``tasks.operations.rule_versions`` keeps it.
_VERBS: Final = ("created", "edited", "restored", "imported")
_LEDGER: Final = table(
    Field("what", Kind.WORD, mark("What was erased"), tuple(Erased)),
    Field("of", Kind.UUID, mark("The id of what was erased")),
    Field("ref", Kind.ID, mark("What its archive calls it"), example="m-17"),
    Field("by", Kind.TEXT, mark("Part of who asked for it"), example="anna@"),
    Field("asked", Kind.MOMENT, mark("When it was asked for"), example=">-30d"),
    Field("done", Kind.MOMENT, mark("When it was done"), example=">-30d"),
    Field("found", Kind.FLAG, mark("Whether it was found")),
    ID,
)
_VERSIONS: Final = table(
    Field("version", Kind.NUMBER, mark("The rule’s version"), example=">1"),
    Field("by", Kind.TEXT, mark("Part of who saved it"), example="anna@"),
    Field("how", Kind.WORD, mark("How it came about"), _VERBS, "restored"),
    Field("made", Kind.MOMENT, mark("When it was saved")),
)


def _named(term: Term) -> Condition:
    """Return the meaning of words: an id, what an archive calls it, or who asked."""
    found = [
        Erasure.external_ref == term.value,
        mean.contains(Erasure.requested_by)(term),
    ]
    with suppress(ValueError):  # what is no id is none that was erased
        found.append(Erasure.entity_id == UUID(term.value))
    return or_(*found)


LEDGER: Final = Plain(
    _LEDGER,
    Meanings(
        {
            "what": mean.is_word(Erasure.entity_type),
            "of": mean.is_id(Erasure.entity_id),
            "ref": mean.equals(Erasure.external_ref),
            "by": mean.contains(Erasure.requested_by),
            "asked": mean.moment(Erasure.requested_at),
            "done": mean.moment(Erasure.completed_at),
            "found": flag(Erasure.completed_at.is_not(None)),
            "id": mean.is_id(Erasure.id),
        },
        early=frozenset(_LEDGER),
    ),
    words=_named,
    id=Erasure.id,
    has_early_words=True,
)
VERSIONS: Final = Plain(
    _VERSIONS,
    Meanings(
        {
            "version": mean.number(RuleVersion.version),
            "by": mean.contains(RuleVersion.actor),
            "how": mean.equals(RuleVersion.verb),
            "made": mean.moment(RuleVersion.created_at),
        },
        early=frozenset(_VERSIONS),
    ),
    words=mean.contains(RuleVersion.actor),
    id=RuleVersion.version,
    has_early_words=True,
)
