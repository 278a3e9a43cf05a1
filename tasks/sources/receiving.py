"""A call of a booking service, from its signature to its booking, in one transaction.

Whatever becomes of it, the call itself is kept, so that operators see it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.errors import InvalidInput
from tasks.models.source import CallOutcome, Source
from tasks.secrets import SecretBox
from tasks.sources import calls
from tasks.sources.applying import Applied, apply
from tasks.sources.providers import PROVIDERS
from tasks.sources.reading import parsed
from tasks.sources.redact import shown
from tasks.sources.told import BadSignature, Passed, Signed


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a call; ``code`` is a stable word, the sentence for people."""

    outcome: CallOutcome
    code: str
    sentence: str
    booking_id: str | None = None


def find(session: Session, token: str) -> tuple[UUID, UUID] | None:
    """Return congregation and id of the source at an address; ``None``: there is none.

    ``session`` must be unscoped: whose source it is is found out here.
    """
    row = session.execute(
        select(Source.congregation_id, Source.id).where(Source.token == token)
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def receive(
    session: Session, source: Source, call: Signed, *, box: SecretBox
) -> Received:
    """Check a call, do what it says, and keep it; the caller commits, always.

    Raises:
        InvalidInput: the source's secret cannot be read (``secret_unreadable``).
    """
    provider = PROVIDERS[source.kind]
    try:
        provider.verify(box.unseal(source.secret), call)
    except BadSignature as bad:
        calls.keep_refused(session, source, bad.sentence, at=call.received_at)
        return Received(CallOutcome.REFUSED, bad.code, bad.sentence)
    message: Mapping[str, object] = {}
    event = ""
    try:
        message = parsed(call.body)
        told = provider.read(message)
        event = told.event
        with session.begin_nested():
            done = (
                Applied(CallOutcome.IGNORED, told.sentence)
                if isinstance(told, Passed)
                else apply(session, source, told, now=call.received_at)
            )
        code = str(done.outcome)
    except InvalidInput as error:
        done, code = Applied(CallOutcome.FAILED, error.message), error.code
    calls.keep(
        session,
        source,
        done.outcome,
        done.sentence,
        at=call.received_at,
        event=event,
        booking_id=done.booking_id,
        body=shown(message),
    )
    return Received(done.outcome, code, done.sentence, done.booking_id)
