"""Searching a list as its box does."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.search.plain import plain_conditions
from tasks.search.plain_lists import PLAIN


def ids_found(session: Session, of: str, query: str) -> Sequence[UUID]:
    """Return the ids of the rows of the list ``of`` that a search finds.

    Args:
        query: the search's terms; what stands before a bar is text of no field.
    """
    text, _, terms = query.rpartition("|")
    conditions = plain_conditions(PLAIN[of], terms, text)
    return session.scalars(select(PLAIN[of].id).where(*conditions)).all()
