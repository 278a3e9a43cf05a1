"""What a search of the document board means; all documents are looked at."""

from __future__ import annotations

from datetime import date
from typing import Final

from sqlalchemy import ColumnElement, and_, or_, select, true

from tasks.clock import utcnow
from tasks.congregation.documents.expiring import ends_soon
from tasks.congregation.names import folded
from tasks.models.document import BoardSection, Document
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table

#: How a document stands on the board; each of them is a tab.
STANDS: Final = ("visible", "soon", "later", "ended", "all")
_FIELDS: Final = table(
    Field("state", Kind.WORD, mark("How it stands on the board"), STANDS, "soon"),
    Field("title", Kind.TEXT, mark("Part of the title; accents do not matter")),
    Field("section", Kind.TEXT, mark("Part of the section’s name")),
    Field("file", Kind.TEXT, mark("Part of the file’s name"), example=".pdf"),
    Field("first", Kind.MOMENT, mark("The first day on the board"), example="<today"),
    Field("last", Kind.MOMENT, mark("The last day on the board"), example="<+30d"),
    Field("highlighted", Kind.FLAG, mark("Whether it stands out")),
    Field("changed", Kind.MOMENT, mark("When it was changed last")),
    WHERE,
    ID,
)


def standing(word: str, today: date) -> ColumnElement[bool]:
    """Return the condition of documents that stand so on a day."""
    begun = or_(Document.visible_from.is_(None), Document.visible_from <= today)
    not_over = or_(Document.visible_until.is_(None), Document.visible_until >= today)
    return {
        "visible": and_(begun, not_over),
        "soon": and_(*ends_soon(today)),
        "later": Document.visible_from > today,
        "ended": Document.visible_until < today,
        "all": true(),
    }[word]


def _title(term: Term) -> Condition:
    """Return the meaning: every word occurs, in whatever order."""
    words = folded(term.value).split()
    has = [Document.search_title.contains(word, autoescape=True) for word in words]
    return and_(Document.id.is_not(None), *has)


def _section(term: Term) -> Condition:
    named = BoardSection.name.icontains(term.value, autoescape=True)
    return Document.section_id.in_(select(BoardSection.id).where(named))


DOCUMENTS: Final = Plain(
    _FIELDS,
    Meanings(
        {
            # Where several calendars are seen, the day is that of UTC.
            "state": lambda term: standing(term.value, utcnow().date()),
            "title": _title,
            "section": _section,
            "file": mean.contains(Document.filename),
            "first": mean.day(Document.visible_from),
            "last": mean.day(Document.visible_until),
            "highlighted": flag(Document.is_highlighted.is_(True)),
            "changed": mean.moment(Document.updated_at),
            "congregation": mean.in_congregation(Document.congregation_id),
            "id": mean.is_id(Document.id),
        },
        early=frozenset(_FIELDS),
    ),
    words=_title,
    id=Document.id,
    has_early_words=True,
)
