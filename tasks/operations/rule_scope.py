"""Which podcasts a rule belongs to: checked, and written to both places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from tasks.models import Podcast, Rule, RulePodcast
from tasks.saying import say

#: A rule that is meant for more podcasts than this is meant for all of them.
PODCASTS_MAX: Final = 200


def problem_of_scope(
    session: Session, congregation_id: UUID, podcast_ids: Sequence[str] | None
) -> str | None:
    """Return what is wrong with a choice of podcasts; None means good."""
    if podcast_ids is None:
        return None
    if not podcast_ids:
        return say("Choose at least one podcast, or every podcast.")
    if len(set(podcast_ids)) > PODCASTS_MAX:
        return say(
            "Choose at most %(max)s podcasts, or every podcast.", max=PODCASTS_MAX
        )
    # PostgreSQL refuses NUL even in a question.
    asked = [each for each in podcast_ids if each.isprintable()]
    known = session.scalars(
        select(Podcast.id).where(
            Podcast.congregation_id == congregation_id, Podcast.id.in_(asked)
        )
    )
    missing = sorted(set(podcast_ids) - set(known))
    if missing:
        return say(
            "There is no podcast “%(id)s” here; choose another.", id=_shown(missing[0])
        )
    return None


def clean_scope(podcast_ids: Sequence[str] | None) -> list[str] | None:
    """Return a choice of podcasts as it is kept: each once, in order.

    >>> clean_scope(["b", "a", "b"])
    ['a', 'b']
    """
    return None if podcast_ids is None else sorted(set(podcast_ids))


def write_scope(session: Session, rule: Rule) -> None:
    """Write the podcasts that a flushed rule names to the table that holds the keys.

    There the database itself refuses a podcast of another congregation.
    """
    session.execute(delete(RulePodcast).where(RulePodcast.rule_id == rule.id))
    rows = [
        {
            "congregation_id": rule.congregation_id,
            "rule_id": rule.id,
            "podcast_id": podcast_id,
        }
        for podcast_id in rule.podcast_ids or ()
    ]
    if rows:
        session.execute(insert(RulePodcast), rows)


def _shown(podcast_id: str) -> str:
    plain = "".join(char if char.isprintable() else "?" for char in podcast_id)
    return plain[:40]
