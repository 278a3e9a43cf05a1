"""Sources: added with a secret that is shown once, changed, taken away."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import Podcast, Source, SourceKind, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.source_checks import (
    checked_name,
    checked_secret,
    checked_types,
)
from tasks.saying import say
from tasks.secrets import SecretBox


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What an operator says about a source."""

    name: str
    event_types: Mapping[str, str]  # the service's name -> booking link
    only_listed: bool


def add_source(
    session: Session,
    congregation_id: UUID,
    podcast_id: str,
    kind: SourceKind,
    change: SourceChange,
    actor: Actor,
    *,
    box: SecretBox,
    secret: str = "",
    now: datetime | None = None,
) -> tuple[Source, str]:
    """Add a source and return it with its secret, which is not shown again.

    Args:
        secret: one that the service made; empty: a new one is made here.

    Raises:
        NotFound: the session sees no such podcast.
        InvalidInput: a bad name, secret or list of event types.
    """
    plain = checked_secret(secret) if secret.strip() else secrets.token_urlsafe(32)
    if session.get(Podcast, (congregation_id, podcast_id)) is None:
        raise NotFound(
            "unknown_podcast", say("There is no such podcast."), field="podcast_id"
        )
    source = Source(
        id=new_id(),
        congregation_id=congregation_id,
        podcast_id=podcast_id,
        kind=kind,
        token=secrets.token_urlsafe(24),
        secret=box.seal(plain),
        created_at=now or utcnow(),
    )
    _set(session, source, change)
    session.add(source)
    session.flush()
    _audit(session, source, actor, "source.added", f"Added the source “{source.name}”.")
    return source, plain


def edit_source(
    session: Session, source_id: UUID, change: SourceChange, actor: Actor
) -> Source:
    """Change a source's name and event types.

    Raises:
        NotFound: the session sees no such source.
        InvalidInput: a bad name or list of event types.
    """
    source = get_source(session, source_id)
    before = _facts(source)
    _set(session, source, change)
    session.flush()
    if _facts(source) != before:
        summary = f"Changed the source “{source.name}”."
        _audit(session, source, actor, "source.edited", summary, before=before)
    return source


def replace_secret(
    session: Session, source_id: UUID, actor: Actor, *, box: SecretBox, secret: str = ""
) -> tuple[Source, str]:
    """Replace the secret; calls signed with the former one are refused from now on.

    Raises:
        NotFound: the session sees no such source.
        InvalidInput: a bad secret.
    """
    source = get_source(session, source_id)
    plain = checked_secret(secret) if secret.strip() else secrets.token_urlsafe(32)
    source.secret = box.seal(plain)
    session.flush()
    summary = f"Replaced the secret of the source “{source.name}”."
    _audit(session, source, actor, "source.secret_replaced", summary)
    return source, plain


def remove_source(session: Session, source_id: UUID, actor: Actor) -> Source:
    """Remove a source with its calls; its bookings stay.

    Raises:
        NotFound: the session sees no such source.
    """
    source = get_source(session, source_id)
    summary = f"Removed the source “{source.name}”."
    _audit(session, source, actor, "source.removed", summary, before=_facts(source))
    session.delete(source)
    session.flush()
    return source


def get_source(session: Session, source_id: UUID) -> Source:
    """Return a source.

    Raises:
        NotFound: the session sees none.
    """
    source = session.scalar(select(Source).where(Source.id == source_id))
    if source is None:
        raise NotFound("unknown_source", say("There is no such source."))
    return source


def _set(session: Session, source: Source, change: SourceChange) -> None:
    source.name = checked_name(change.name)
    source.event_types = checked_types(session, source, change.event_types)
    source.only_listed = change.only_listed


def _facts(source: Source) -> dict[str, object]:
    return {
        "name": source.name,
        "kind": str(source.kind),
        "podcast_id": source.podcast_id,
        "event_types": dict(source.event_types),
        "only_listed": source.only_listed,
    }


def _audit(
    session: Session,
    source: Source,
    actor: Actor,
    action: str,
    summary: str,
    *,
    before: dict[str, object] | None = None,
) -> None:
    record(
        session,
        actor,
        action,
        Subject("source", str(source.id), source.congregation_id),
        summary,
        before=before,
        after=None if action == "source.removed" else _facts(source),
    )
