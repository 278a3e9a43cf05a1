"""The choice of a podcast, as one value of a form."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session
from wtforms import SelectChoice

from tasks.errors import InvalidInput
from tasks.models import Congregation, Podcast
from tasks.saying import say

#: The select offers this many podcasts.
PODCASTS_MAX: Final = 500


def podcast_choices(session: Session) -> list[SelectChoice]:
    """Return the podcasts that the session sees, grouped by congregation if many."""
    found = session.execute(
        select(Congregation.id, Congregation.name, Podcast.id, Podcast.title)
        .join(Podcast, Podcast.congregation_id == Congregation.id)
        .order_by(Congregation.name, Congregation.id, Podcast.title, Podcast.id)
        .limit(PODCASTS_MAX)
    ).all()
    has_several = len({owner_id for owner_id, *_ in found}) > 1
    return [
        SelectChoice(
            f"{owner_id}/{id_}", title, optgroup=owner if has_several else None
        )
        for owner_id, owner, id_, title in found
    ]


def chosen_podcast(value: str | None) -> tuple[UUID, str]:
    """Return congregation and podcast of a form's value.

    Raises:
        InvalidInput: none is chosen.
    """
    congregation, _, podcast_id = (value or "").partition("/")
    try:
        of = UUID(congregation)
    except ValueError:
        of = None
    if of is None or not podcast_id or "\0" in podcast_id:
        raise InvalidInput(
            "required", say("Choose one of the podcasts."), field="podcast_id"
        )
    return of, podcast_id[:200]
