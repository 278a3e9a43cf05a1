"""How a member stands, in one word for the pages."""

from __future__ import annotations

from datetime import date

from tasks.models import Member


def standing(row: Member, today: date) -> str:
    """Return the word of ``dashboard.states`` for how the member stands."""
    if row.anonymised_at is not None:
        return "anonymised"
    if row.left_on is not None:
        return "departed"
    if row.inactive_on is not None and row.inactive_on <= today:
        return "inactive"
    return "here"
