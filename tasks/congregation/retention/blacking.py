"""Blacking people out of texts that are about something else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import JSON, ColumnElement, Text, and_, cast, or_, select, update
from sqlalchemy.orm import Session

from tasks.congregation.personal import MENTIONS
from tasks.models.base import Base

#: What stands in a word's place.
BLACK: Final = "•••"
#: Words that one statement looks for.
_CHUNK: Final = 40


def black_out(session: Session, congregation_id: UUID, words: Sequence[str]) -> int:
    """Take ``words`` out of the congregation's texts; returns how many rows changed.

    Reads every row of the tables in ``MENTIONS``, once for each 40 words.

    Args:
        words: the longest first, none of them empty.
    """
    changed = 0
    for start in range(0, len(words), _CHUNK):
        some = words[start : start + _CHUNK]
        pattern = re.compile(
            "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in some), re.IGNORECASE
        )
        for model, names in MENTIONS.items():
            changed += _in_table(session, model, names, congregation_id, some, pattern)
    return changed


def _in_table(
    session: Session,
    model: type[Base],
    names: Sequence[str],
    congregation_id: UUID,
    words: Sequence[str],
    pattern: re.Pattern[str],
) -> int:
    table = Base.metadata.tables[model.__tablename__]
    keys = list(table.primary_key)
    columns = [table.c[name] for name in names]
    found = session.execute(
        select(*keys, *columns).where(
            table.c.congregation_id == congregation_id,
            or_(*(each for column in columns for each in _any_of(column, words))),
        )
    ).all()
    changed = 0
    for row in found:
        texts = dict(zip(names, row[len(keys) :], strict=True))
        blacked = {name: _blacked(text, pattern) for name, text in texts.items()}
        new = {name: text for name, text in blacked.items() if text != texts[name]}
        if not new:
            continue  # part of a longer word
        is_row = (key == value for key, value in zip(keys, row, strict=False))
        session.execute(update(table).where(and_(*is_row)).values(new))
        changed += 1
    return changed


def _any_of(
    column: ColumnElement[Any], words: Sequence[str]
) -> Iterator[ColumnElement[bool]]:
    is_json = isinstance(column.type, JSON)
    text = cast(column, Text) if is_json else column
    for word in words:
        # SQLite knows the case of ASCII letters only, and JSON's escapes have none.
        for spelt in {word} if word.isascii() else {word, word.upper(), word.lower()}:
            written = json.dumps(spelt)[1:-1] if is_json else spelt
            yield text.icontains(written, autoescape=True)


def _blacked(value: object, pattern: re.Pattern[str]) -> object:
    if isinstance(value, str):
        return pattern.sub(BLACK, value)
    if isinstance(value, dict):
        return {
            _blacked(key, pattern): _blacked(inner, pattern)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_blacked(each, pattern) for each in value]
    return value
