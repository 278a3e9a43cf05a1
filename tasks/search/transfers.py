"""What a search of exports and imports of a congregation's data means."""

from __future__ import annotations

from typing import Final

from sqlalchemy import or_

from tasks.models.long_job import LongJobState
from tasks.models.transfer import Transfer, TransferKind
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Meanings
from tasks.search.fields import Field, Kind
from tasks.search.plain import ID, WHERE, Plain, table

_FIELDS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), tuple(LongJobState), "failed"),
    Field("kind", Kind.WORD, mark("What is done"), tuple(TransferKind), "export"),
    Field("file", Kind.TEXT, mark("Part of the file’s name"), example=".zip"),
    Field("by", Kind.TEXT, mark("Part of who asked for it"), example="anna@"),
    Field("error", Kind.TEXT, mark("Part of the error"), example="timeout"),
    Field("asked", Kind.MOMENT, mark("When it was asked for"), example=">-24h"),
    WHERE,
    ID,
)
_file: Final = mean.contains(Transfer.file_name)
_by: Final = mean.contains(Transfer.requested_by)

TRANSFERS: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "state": mean.is_word(Transfer.state),
            "kind": mean.is_word(Transfer.kind),
            "file": _file,
            "by": _by,
            "error": mean.contains(Transfer.error),
            "asked": mean.moment(Transfer.requested_at),
            "congregation": mean.in_congregation(Transfer.congregation_id),
            "id": mean.is_id(Transfer.id),
        },
        early=frozenset({"asked", "congregation", "id"}),
    ),
    words=lambda term: or_(_file(term), _by(term)),
    id=Transfer.id,
    order=(Transfer.id.desc(),),
)
