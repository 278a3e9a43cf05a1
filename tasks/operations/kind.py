"""What one kind of operation is: which rows it means, and what it does to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from tasks.models import Operation
from tasks.models.base import Json
from tasks.operations.acted import Acted
from tasks.operations.bulk import Verb

Act = Callable[[Session, Operation, Sequence[UUID], datetime], Acted]
#: Returns what makes a row one that a filter means, as operations keep filters.
Narrow = Callable[[Session, Json], Sequence[ColumnElement[bool]]]


class Refusal(NamedTuple):
    """Why a row that the filter means is left as it is."""

    why: str  # a marked sentence; operations keep it in English
    holds: ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Kind:
    """What one kind of operation means and does."""

    model: type[Any]  # its rows have an id and a congregation
    #: What makes a row one that was meant, by the high water and ``is_again``.
    eligible: Callable[[datetime, bool], tuple[ColumnElement[bool], ...]]
    act: Act
    verb: Verb | None = None  # None: it is more than a change of columns
    lane: str | None = None  # which gets work by it
    narrow: Narrow | None = None  # None: a ``Matching``
    #: The first that holds is told; one that holds makes a row not eligible.
    refusals: tuple[Refusal, ...] = ()
