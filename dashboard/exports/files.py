"""Rows as CSV and JSON, piece by piece: no file is ever held in memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

Value = str | int | datetime | None
Row = Mapping[str, Value]
#: Yields batches of rows; after the last one it has counted them all.
Batches = Iterable[Sequence[Row]]

#: What a spreadsheet takes for a formula, or for what comes before one.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
#: Tells spreadsheets that it is UTF-8.
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    mimetype: str
    write: Callable[[Sequence[str], Batches, Mapping[str, Any]], Iterator[str]]


def as_csv(
    columns: Sequence[str], batches: Batches, _about: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a table with a line of names, each value in quotes."""
    yield _BOM + _lines([columns])
    for batch in batches:
        yield _lines([_cell(row.get(name)) for name in columns] for row in batch)


def as_json(
    _columns: Sequence[str], batches: Batches, about: Mapping[str, Any]
) -> Iterator[str]:
    """Yield one object: what was asked for, the rows, and how many they are."""
    head = json.dumps({**about}, ensure_ascii=False)
    yield f'{head[:-1]}, "rows": ['
    n = 0
    for batch in batches:
        texts = [json.dumps(_plain(row), ensure_ascii=False) for row in batch]
        yield (",\n" if n and texts else "\n") + ",\n".join(texts)
        n += len(texts)
    yield f'\n], "n": {n}}}\n'


FORMATS: Final[Mapping[str, Format]] = {
    "csv": Format("text/csv", as_csv),
    "json": Format("application/json", as_json),
}


def _lines(rows: Iterable[Sequence[str | int]]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


def _cell(value: Value) -> str | int:
    """Return a value that no spreadsheet carries out.

    >>> _cell("=1+1"), _cell(" @x"), _cell(-1), _cell(None)
    ("'=1+1", "' @x", -1, '')
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        is_formula = value.lstrip(" \u00a0").startswith(_FORMULA)
        return f"'{value}" if is_formula else value
    return value


def _plain(row: Row) -> dict[str, str | int | None]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }
