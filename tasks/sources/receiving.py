"""A call of a booking service, from its signature to its booking, in one transaction.

Whatever becomes of it, the call itself is kept, so that operators see it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.errors import InvalidInput
from tasks.executing.recording import AWAY
from tasks.models.source import CallOutcome, Source
from tasks.saying import mark
from tasks.secrets import SecretBox
from tasks.sources import calls
from tasks.sources.applying import Applied, apply
from tasks.sources.providers import PROVIDERS
from tasks.sources.reading import parsed
from tasks.sources.redact import shown
from tasks.sources.told import BadSignature, Passed, Signed

logger = logging.getLogger(__name__)

_BROKE: Final = mark("An error in the program kept it from being read, see its log.")


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
    except AWAY:
        raise  # nothing can be kept now; the service calls again
    except Exception:  # a bug of ours: operators must see that a call was lost to it
        logger.exception("source.receive_failed", extra={"source": str(source.id)})
        done, code = Applied(CallOutcome.FAILED, _BROKE), "internal_error"
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
