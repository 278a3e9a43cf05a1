"""A mail is edited for one time: another execution sends it, the old one stays."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, TryAgain
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.lanes.executions import sweep
from tasks.models import (
    AuditEntry,
    Execution,
    ExecutionMessage,
    ExecutionState,
    Replay,
    SuppressionReason,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.editing import TEXT_MAX, Edited, send_edited
from tasks.operations.suppressions import suppress
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ANNA = Actor("anna@example.org")
MAIL = {
    "to": "joerg@example.org",
    "subject": "Hello",
    "text": "At noon.\nBring water.",
    "html": "<p>At noon.</p>",
    "optional": True,
}
NEW = Edited("joerg@example.org", "Hello", "At one.\r\nBring water.")


@pytest.fixture
def old(make_session: Sessions) -> UUID:
    """Return an execution whose mail failed."""
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        row = factories.execution(
            session, rule, state=ExecutionState.FAILED, settled_at=NOW, attempt=5
        )
        message = ExecutionMessage(
            congregation_id=tenant, execution_id=row.id, message=MAIL, composed_at=NOW
        )
        session.add(message)
        return row.id


def _edit(
    make_session: Sessions,
    id_: UUID,
    edited: Edited = NEW,
    operation: UUID | None = None,
) -> UUID:
    with make_session.begin() as session:
        return send_edited(
            session,
            id_,
            edited,
            ANNA,
            operation_id=operation or new_id(),
            why="Wrong hour",
            now=NOW,
        )


def test_the_edited_mail_goes_out_once_and_the_old_execution_stays(
    make_session: Sessions, old: UUID
) -> None:
    operation = new_id()
    made = _edit(make_session, old, operation=operation)
    assert _edit(make_session, old, operation=operation) == made

    post = FakePost()
    sweep(bench(make_session, lambda: NOW, post), 10)

    [(envelope, message)] = post.sent
    assert envelope.execution_id == made
    assert message == MAIL | {"text": "At one.\nBring water.", "html": ""}
    with make_session() as session:
        assert session.get_one(Execution, old).state is ExecutionState.FAILED
        assert session.get_one(Execution, made).state is ExecutionState.SUCCEEDED
        link = session.get_one(Replay, made)
        assert (link.original_id, link.operation_id) == (old, operation)
        [deed] = session.scalars(select(AuditEntry))
    assert deed.action == "execution.edited"
    assert deed.summary == "Sent again with another text: Wrong hour"


def test_what_is_tried_again_stays_edited(make_session: Sessions, old: UUID) -> None:
    made = _edit(make_session, old)
    answers = iter([TryAgain("busy"), Done(250)])
    post = FakePost(lambda _envelope: next(answers))
    for _ in range(2):
        with make_session.begin() as session:
            session.get_one(Execution, made).run_at = NOW
        sweep(bench(make_session, lambda: NOW, post), 10)
    assert [message["text"] for _, message in post.sent] == [
        "At one.\nBring water."
    ] * 2


def test_another_recipient_is_asked_for_like_any_other(
    make_session: Sessions, old: UUID
) -> None:
    with make_session.begin() as session:
        tenant = session.get_one(Execution, old).congregation_id
        why = SuppressionReason.ASKED
        suppress(session, tenant, "silent@example.org", why, ANNA)
    made = _edit(make_session, old, Edited("silent@example.org", "Hello", "Hi"))
    post = FakePost()
    sweep(bench(make_session, lambda: NOW, post), 10)
    assert not post.sent
    with make_session() as session:
        row = session.get_one(Execution, made)
        assert (row.state, row.recipient) == (
            ExecutionState.SKIPPED,
            "silent@example.org",
        )


def test_a_wrong_edit_is_refused_in_words(make_session: Sessions, old: UUID) -> None:
    for edited, field in (
        (Edited("nobody", "Hello", "Hi"), "to"),
        (Edited("a@example.org", " ", "Hi"), "subject"),
        (Edited("a@example.org", "two\nlines", "Hi"), "subject"),
        (Edited("a@example.org", "Hello", "\n"), "text"),
        (Edited("a@example.org", "Hello", "x" * (TEXT_MAX + 1)), "text"),
        (Edited(MAIL["to"], MAIL["subject"], MAIL["text"]), None),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput) as refused:
            _edit(make_session, old, edited)
        assert refused.value.field == field, edited


def test_what_waits_or_made_no_mail_cannot_be_edited(
    make_session: Sessions, old: UUID
) -> None:
    with pytest.raises(NotFound):
        _edit(make_session, new_id())
    with make_session.begin() as session:
        session.get_one(Execution, old).state = ExecutionState.PENDING
    with pytest.raises(Conflict, match="cancel it first"):
        _edit(make_session, old)
    with make_session.begin() as session:
        session.get_one(Execution, old).state = ExecutionState.FAILED
        session.delete(session.get_one(ExecutionMessage, old))
    with pytest.raises(Conflict, match="made no mail"):
        _edit(make_session, old)
