"""Taking a cancelling back while somebody else replays: only one of them goes out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.db import Begin, sessions
from tasks.errors import Conflict
from tasks.models import (
    Execution,
    ExecutionMessage,
    ExecutionState,
    OperationKind,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.editing import Edited, send_edited
from tasks.operations.executions import cancel_execution
from tasks.operations.kinds import Asked
from tasks.operations.starting import start
from tasks.operations.undoing_cancel import undo_cancel
from tests.support import factories
from tests.support.factories import NOW
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until

ADA = Actor("ada@example.org")
LATER = NOW + timedelta(minutes=1)
Deed = Callable[[Session, UUID], object]


def _undo(session: Session, id_: UUID) -> None:
    undo_cancel(session, id_, ADA, now=LATER)


def _replay(session: Session, id_: UUID) -> None:
    asked = Asked(OperationKind.REPLAY_EXECUTIONS, {"ids": [str(id_)]}, LATER)
    start(session, new_id(), asked, ADA, now=LATER)


def _edit(session: Session, id_: UUID) -> None:
    edited = Edited("ada@example.org", "Other words", "Other words")
    ids = {"operation_id": new_id()}
    send_edited(session, id_, edited, ADA, why="A typo.", now=LATER, **ids)


@pytest.fixture
def begin(postgres_engine: Engine) -> Begin:
    return sessions(postgres_engine).begin


@pytest.mark.parametrize(
    ("first", "second"),
    [(_replay, _undo), (_edit, _undo), (_undo, _replay), (_undo, _edit)],
)
def test_what_is_replayed_and_uncancelled_at_once_goes_out_once(
    begin: Begin, postgres_engine: Engine, first: Deed, second: Deed
) -> None:
    with begin() as session:
        house = factories.congregation(session)
        id_ = factories.execution(session, factories.rule(session, house)).id
        mail = {"to": "a@example.org", "subject": "Hello", "text": "Hello"}
        session.add(
            ExecutionMessage(
                congregation_id=house, execution_id=id_, message=mail, composed_at=NOW
            )
        )
        cancel_execution(session, id_, ADA, now=NOW)

    def do_second() -> None:
        with suppress(Conflict), begin() as session:  # or it tells what it skipped
            second(session, id_)

    other = threading.Thread(target=do_second)
    with begin() as session:
        first(session, id_)
        other.start()
        until(lambda: waits_for_a_lock(postgres_engine))
    other.join(30)
    with begin() as session:
        states = session.scalars(select(Execution.state)).all()
    assert states.count(ExecutionState.PENDING) == 1
