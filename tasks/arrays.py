"""Arrays for PostgreSQL, written as one text: the driver would look at each element.

Only for kinds whose values need no quotes inside of an array's text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    JSON,
    ColumnElement,
    Enum,
    Integer,
    Text,
    Uuid,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import TypeEngine

from tasks.models.base import UtcDateTime

#: Kinds whose values are written without quotes; an enum's words are ours.
_PLAIN: Final = (Uuid, Integer, UtcDateTime, Enum)


def array(
    name: str | None,
    kind: TypeEngine[Any],
    given: Any = None,  # noqa: ANN401  # a text or a list
) -> ColumnElement[Any]:
    """Return the parameter ``name`` as an array of ``kind``; see ``values_of``.

    Args:
        given: its value, when it is known already.
    """
    if isinstance(kind, _PLAIN):
        # As a subquery, which is asked once: else PostgreSQL may read the text anew for
        # each row.  The outer cast keeps ANY from taking it for rows.
        read = select(cast(bindparam(name, given, Text), ARRAY(kind)))
        return cast(read.scalar_subquery(), ARRAY(kind))
    return bindparam(name, given, ARRAY(kind))


def elements(name: str, kind: TypeEngine[Any]) -> ColumnElement[Any]:
    """Return the elements of the parameter ``name``, one row each."""
    if isinstance(kind, JSON):
        return func.json_array_elements(cast(bindparam(name, type_=Text), JSON))
    return func.unnest(array(name, kind))


def values_of(kind: TypeEngine[Any], values: Sequence[Any]) -> Any:  # noqa: ANN401  # a text or a list
    """Return ``values`` as the parameter of ``array`` wants them."""
    if isinstance(kind, JSON):
        return json.dumps(values, separators=(",", ":"))
    if isinstance(kind, Uuid):
        return "{" + ",".join([v.hex if v else "NULL" for v in values]) + "}"
    if isinstance(kind, UtcDateTime):
        return "{" + ",".join([_instant(v) for v in values]) + "}"
    if isinstance(kind, _PLAIN):
        return "{" + ",".join(["NULL" if v is None else str(v) for v in values]) + "}"
    return list(values)


def _instant(value: datetime | None) -> str:
    # Quoted, for the blank that PostgreSQL's own notation would have.
    return f'"{value.astimezone(UTC).isoformat()}"' if value else "NULL"
