"""The pages on which a mail is edited for one time, and retries that ask first."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.db import sessions
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Execution,
    ExecutionMessage,
    ExecutionState,
    Replay,
)
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.factories import NOW

MAIL = {"to": "joerg@example.org", "subject": "Hello", "text": "At noon.", "html": ""}
NEW = MAIL | {"text": "At one.", "why": "Wrong hour"}


@pytest.fixture
def failed(sqlite_engine: Engine) -> UUID:
    """Return an execution whose mail may have arrived."""
    with sessions(sqlite_engine).begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        row = factories.execution(
            session, rule, state=ExecutionState.FAILED, settled_at=NOW, attempt=1
        )
        common = {"congregation_id": tenant, "execution_id": row.id}
        message = ExecutionMessage(**common, message=MAIL, composed_at=NOW)
        tried = Attempt(
            **common,
            number=1,
            worker="w",
            started_at=NOW,
            effect_started_at=NOW,
            finished_at=NOW,
            outcome=AttemptOutcome.UNKNOWN,
        )
        session.add_all([message, tried])
        return row.id


def test_a_mail_is_edited_looked_at_and_sent_as_another_execution(
    as_operator: Browser, sqlite_engine: Engine, failed: UUID
) -> None:
    path = f"/executions/{failed}/edit"
    assert f'href="{path}"' in as_operator.get(f"/executions/{failed}").text
    assert "At noon." in as_operator.get(path).text

    review = as_operator.post(path, data=NEW).text
    assert "<del>At noon.</del>" in review
    assert "<ins>At one.</ins>" in review
    found = re.search(r'name="operation" value="([^"]+)"', review)
    assert found
    sure = NEW | {"confirmed": "yes", "operation": found[1]}
    answers = [as_operator.post(path, data=sure) for _ in range(2)]

    assert {answer.status_code for answer in answers} == {303}
    assert len({answer.location for answer in answers}) == 1
    with Session(sqlite_engine) as session:
        [link] = session.scalars(select(Replay))
        assert link.original_id == failed
    assert "an earlier execution" in as_operator.get(answers[0].location).text
    assert "a later execution" in as_operator.get(f"/executions/{failed}").text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"to": "nobody"}, "nobody"),
        ({"subject": ""}, "The subject is empty."),
        ({"text": "\x00"}, "The text is empty."),
        ({"why": ""}, "Say why"),
        ({"text": "At noon."}, "Nothing was changed"),
    ],
)
def test_a_wrong_edit_keeps_what_was_written_and_says_what_is_wrong(
    as_operator: Browser, failed: UUID, change: dict[str, str], sentence: str
) -> None:
    answer = as_operator.post(f"/executions/{failed}/edit", data=NEW | change)
    assert answer.status_code == 422
    assert sentence in answer.text
    assert "Edit this mail, once" in answer.text


def test_what_waits_cannot_be_edited(
    as_operator: Browser, sqlite_engine: Engine, failed: UUID
) -> None:
    with sessions(sqlite_engine).begin() as session:
        session.get_one(Execution, failed).state = ExecutionState.PENDING
    for answer in (
        as_operator.get(f"/executions/{failed}/edit", follow_redirects=True),
        as_operator.post(f"/executions/{failed}/edit", follow_redirects=True),
    ):
        assert "cancel it first" in answer.text


def test_a_retry_of_what_may_have_arrived_asks_first(
    as_operator: Browser, sqlite_engine: Engine, failed: UUID
) -> None:
    page = as_operator.get(f"/executions/{failed}").text
    assert "it may have arrived. A retry may bring it a second time" in page

    asked = as_operator.post(f"/executions/{failed}/retry", follow_redirects=True)
    assert "so it may have arrived" in asked.text
    with Session(sqlite_engine) as session:
        assert session.get_one(Execution, failed).state is ExecutionState.FAILED

    as_operator.post(f"/executions/{failed}/retry?sure=1")
    with Session(sqlite_engine) as session:
        assert session.get_one(Execution, failed).state is ExecutionState.PENDING


def test_a_cancelling_is_taken_back_on_its_page(
    as_operator: Browser, sqlite_engine: Engine, failed: UUID
) -> None:
    with sessions(sqlite_engine).begin() as session:
        session.get_one(Execution, failed).state = ExecutionState.PENDING
    as_operator.post(f"/executions/{failed}/cancel")
    assert f"/executions/{failed}/undo" in as_operator.get(f"/executions/{failed}").text

    for sentence in ("It waits again.", "Replay it instead."):
        answer = as_operator.post(f"/executions/{failed}/undo", follow_redirects=True)
        assert sentence in answer.text
    assert "/undo" not in as_operator.get(f"/executions/{failed}").text
