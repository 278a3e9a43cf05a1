"""Sending a mail again with other words: edited for this one time, the old one kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.executions import insert_executions
from tasks.automation.keys import replay_key
from tasks.automation.messages import subject_problem
from tasks.automation.upsert import insert_new
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    Execution,
    ExecutionMessage,
    ExecutionState,
    Operation,
    OperationKind,
    OperationState,
    Replay,
)
from tasks.models.base import Json
from tasks.models.edit import ExecutionEdit
from tasks.models.execution import SETTLED
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.executions import LANE
from tasks.operations.replaying_executions import copy_of, read
from tasks.operations.starting import refuse_reason
from tasks.outbound.mailboxes import BadAddress, read_address
from tasks.saying import mark, say

SUBJECT_MAX: Final = 300
TEXT_MAX: Final = 50_000
PARTS: Final = ("to", "subject", "text")
_EMPTY: Final = {
    "subject": mark("The subject is empty."),
    "text": mark("The text is empty."),
}
_TOO_LONG: Final = {
    "subject": mark("The subject has %(n)s characters; at most %(max)s are sent."),
    "text": mark("The text has %(n)s characters; at most %(max)s are sent."),
}


@dataclass(frozen=True, slots=True)
class Edited:
    """What a mail is to say this once."""

    to: str
    subject: str
    text: str


def editable(
    session: Session, execution_id: UUID, *, lock: bool = False
) -> tuple[Execution, Json]:
    """Return an execution that ended, and the mail that it made.

    Args:
        session: where to read.
        execution_id: which one.
        lock: let nobody change it until the transaction ends.

    Raises:
        NotFound: the session sees no such execution.
        Conflict: it has not ended, or made no mail; the message says so.
    """
    wanted = (
        select(Execution, ExecutionMessage.message)
        .outerjoin(ExecutionMessage, ExecutionMessage.execution_id == Execution.id)
        .where(Execution.id == execution_id)
        .execution_options(populate_existing=True)
    )
    if lock:
        wanted = wanted.with_for_update(of=Execution, key_share=True)
    found = session.execute(wanted).one_or_none()
    if found is None:
        raise NotFound("unknown_execution", say("There is no such execution."))
    row, message = found
    if row.state not in SETTLED:
        raise Conflict(
            "not_settled",
            say("It waits or is under way; cancel it first, then edit it."),
        )
    if row.action != "email" or not message or "to" not in message:
        problem = say("It made no mail, so there is nothing to edit.")
        raise Conflict("no_mail", problem)
    return row, dict(message)


def edit(message: Json, edited: Edited) -> tuple[Json, list[str]]:
    """Return the mail with its new words, and the names of what changed.

    Where the text changed the old HTML version goes: it would say something else.

    Raises:
        InvalidInput: a part is missing, too long or no address; or nothing changed.
    """
    new = dict(message)
    try:
        new["to"] = read_address(edited.to)
    except BadAddress as error:
        raise InvalidInput("bad_address", str(error), field="to") from error
    new["subject"] = _within(edited.subject.strip(), SUBJECT_MAX, "subject")
    if (problem := subject_problem(new["subject"])) is not None:
        raise InvalidInput("bad_subject", problem, field="subject")
    new["text"] = _within(edited.text, TEXT_MAX, "text")
    changed = [name for name in PARTS if new[name] != _plain(message.get(name))]
    if not changed:
        raise InvalidInput(
            "nothing_edited",
            say("Nothing was changed; to send it as it is, replay it."),
        )
    if "text" in changed:
        new["html"] = ""
    return new, changed


def send_edited(
    session: Session,
    execution_id: UUID,
    edited: Edited,
    actor: Actor,
    *,
    operation_id: UUID,
    why: str,
    now: datetime,
) -> UUID:
    """Make another execution that sends the edited mail; return its id.

    Pressed twice with one operation's id, it is made once.  What it repeats keeps its
    history.  The guard looks at it as at any other.

    Raises:
        NotFound: the session sees no such execution.
        Conflict: it cannot be edited; see ``editable``.
        InvalidInput: see ``edit``; or the reason is missing or too long.
    """
    row, message = editable(session, execution_id, lock=True)
    new, changed = edit(message, edited)
    refuse_reason(why, is_again=True)
    operation = _operation(row, actor, operation_id, why, now)
    if not insert_new(session, Operation, [operation], unique=["id"]):
        return _made_before(session, operation_id, execution_id)
    made = _made(session, execution_id, new, operation, now)
    record(
        session,
        actor,
        "execution.edited",
        Subject("execution", str(execution_id), row.congregation_id),
        f"Sent again with another {' and '.join(changed)}: {why}",
        after={"changed": changed, "execution_id": str(made)},
    )
    doorbell.ask(session, LANE)
    return made


def _made(
    session: Session,
    original_id: UUID,
    message: Json,
    operation: dict[str, Any],
    now: datetime,
) -> UUID:
    """Add the execution that sends the edited mail, and its link to the old one."""
    (old,) = read(session, [original_id])
    key = replay_key(old.row.idempotency_key, operation["id"])
    copy = copy_of(old, key, now)
    insert_executions(session, [copy])
    session.execute(
        update(Execution)
        .where(Execution.id == copy.id)
        .values(attempt=1, recipient=message["to"])
        .execution_options(synchronize_session=False)
    )
    common: dict[str, Any] = {
        "congregation_id": copy.congregation_id,
        "execution_id": copy.id,
    }
    by = operation["actor"]
    link = Replay(**common, original_id=original_id, operation_id=operation["id"])
    edit_ = ExecutionEdit(**common, message=message, edited_by=by, edited_at=now)
    session.add_all([edit_, link])
    session.flush()
    return copy.id


def _made_before(session: Session, operation_id: UUID, execution_id: UUID) -> UUID:
    made = session.scalar(
        select(Replay.execution_id).where(
            Replay.original_id == execution_id, Replay.operation_id == operation_id
        )
    )
    if made is None:
        problem = say("That was done already, to something else.")
        raise Conflict("already_done", problem)
    return made


def _operation(
    row: Execution, actor: Actor, id_: UUID, why: str, now: datetime
) -> dict[str, Any]:
    return {
        "id": id_,
        "congregation_id": row.congregation_id,
        "scope": [str(row.congregation_id)],
        "kind": OperationKind.REPLAY_EXECUTIONS,
        "matching": {"ids": [str(row.id)]},
        "high_water": now,
        "is_again": row.state is ExecutionState.SUCCEEDED,
        "why": why,
        "actor": actor.name[:255],
        "state": OperationState.DONE,
        "n_total": 1,
        "n_done": 1,
        "n_changed": 1,
        "n_made": 1,
        "skipped": {},
        "changed_in": {str(row.congregation_id): 1},
        "tries": 0,
        "touched_at": now,
        "created_at": now,
        "started_at": now,
        "ended_at": now,
    }


def _within(text: str, longest: int, field: str) -> str:
    text = _plain(text)
    if not text.strip():
        raise InvalidInput("empty", say(_EMPTY[field]), field=field)
    if len(text) > longest:
        raise InvalidInput(
            "too_long",
            say(_TOO_LONG[field], n=str(len(text)), max=str(longest)),
            field=field,
        )
    return text


def _plain(value: object) -> str:
    """Return a text as it is compared: browsers and databases change these marks."""
    return str(value or "").replace("\r\n", "\n").replace("\x00", "").strip("\n")
