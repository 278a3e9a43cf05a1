"""Blacking people out of texts that are about something else."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Table,
    and_,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.orm import Session

from tasks.congregation.fates import Texts
from tasks.congregation.personal import MENTIONS

#: What stands in a word's place.
BLACK: Final = "•••"
_TOKEN: Final = re.compile(r"\w+")
#: Rows that are in memory at once.
_ROWS: Final = 500


class Words:
    """Words to be found in many texts: a text costs the same for any number of them."""

    def __init__(self, words: Sequence[str]) -> None:
        self._by_token: defaultdict[str, list[str]] = defaultdict(list)
        for word in sorted(words, key=len, reverse=True):
            if tokens := _TOKEN.findall(word.casefold()):
                self._by_token[max(tokens, key=len)].append(word)

    def black(self, value: object) -> object:
        """Return ``value`` with the words blacked out: a text, or JSON."""
        if isinstance(value, str):
            return self._black(value)
        if isinstance(value, dict):
            return {self.black(key): self.black(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.black(each) for each in value]
        return value

    def _black(self, text: str) -> str:
        for token in self._by_token.keys() & _TOKEN.findall(text.casefold()):
            for word in self._by_token[token]:
                # Whole words only: "Ann Lee" is no part of "Ann Leeson".
                parts = r"\s+".join(map(re.escape, word.split()))
                pattern = rf"(?<!\w){parts}(?!\w)"
                text = re.sub(pattern, BLACK, text, flags=re.IGNORECASE)
        return text


def black_out(session: Session, congregation_id: UUID, words: Sequence[str]) -> int:
    """Take ``words`` out of the congregation's texts; returns how many rows changed.

    Reads every text that ``MENTIONS`` names, once, however many words there are.
    """
    if not words:
        return 0
    known = Words(words)
    return sum(_in_texts(session, each, congregation_id, known) for each in MENTIONS)


def _in_texts(
    session: Session, texts: Texts, congregation_id: UUID, words: Words
) -> int:
    table = texts.table
    # Collected before any of them changes: SQLite reads on while we write.
    changed = list(_changed(session, table, texts, congregation_id, words))
    for is_row, new in changed:
        session.execute(update(table).where(is_row).values(new))
    return len(changed)


def _changed(
    session: Session, table: Table, texts: Texts, congregation_id: UUID, words: Words
) -> Iterator[tuple[ColumnElement[bool], dict[str, Any]]]:
    keys = list(table.primary_key)
    columns = [table.c[name] for name in texts.columns]
    rows = session.execute(
        select(*keys, *columns)
        .where(
            table.c.congregation_id == congregation_id,
            or_(*(_is_written(column) for column in columns)),
            true() if texts.where is None else texts.where,
        )
        .execution_options(yield_per=_ROWS)
    )
    for row in rows:
        old = dict(zip(texts.columns, row[len(keys) :], strict=True))
        blacked = {name: words.black(value) for name, value in old.items()}
        new = {name: value for name, value in blacked.items() if value != old[name]}
        if new:
            pairs = zip(keys, row[: len(keys)], strict=True)
            yield and_(*(key == value for key, value in pairs)), new


def _is_written(column: Column[Any]) -> ColumnElement[bool]:
    return column.is_not(None) if isinstance(column.type, JSON) else column != ""
