"""The page of one execution: its whole story, its mail, and who may see it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Congregation,
    Execution,
    ExecutionMessage,
    Reason,
    Rule,
    Suppression,
    SuppressionReason,
)
from tests.dashboard.executions.conftest import (
    FAILED,
    HOSTILE,
    S,
    ids_of,
    state_of,
    text_of,
)
from tests.support import factories


def test_the_page_tells_the_whole_story(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    id_ = add(context={"guest": {"name": "Jörg"}, "tags": [1]}, **FAILED)
    of, at = rule.congregation_id, utcnow()
    with Session(sqlite_engine) as session, session.begin():
        for number, outcome in enumerate(
            (AttemptOutcome.UNKNOWN, AttemptOutcome.FAILED), 1
        ):
            session.add(
                Attempt(
                    congregation_id=of,
                    execution_id=id_,
                    number=number,
                    worker="box:1:ab",
                    started_at=at,
                    effect_started_at=at if number == 1 else None,
                    finished_at=at + timedelta(seconds=3),
                    outcome=outcome,
                    status_code=550,
                    error="Mailbox full.",
                    response="550 5.2.2",
                )
            )
        message = {"to": "joerg@example.org", "subject": "Hallo", "text": "Bis bald"}
        session.add(
            ExecutionMessage(
                congregation_id=of,
                execution_id=id_,
                message={**message, "html": "<p>Bis bald</p>"},
                composed_at=at,
            )
        )
    as_operator.post(f"/executions/{id_}/retry")
    page = as_operator.get(f"/executions/{id_}").text
    first = text_of(page, "attempt-1")
    assert "Unknown" in first
    assert "Sending began 0 ms after the start" in first
    assert "took 3 s" in first
    assert "answer 550" in first
    assert "Nothing left the house" in text_of(page, "attempt-2")
    assert "Bis bald" in text_of(page, "execution-message")
    assert "Queued 1 execution for another try." in page
    assert '/versions?a=1">version 1<' in page


SKIPPED: dict[str, Any] = {"state": S.SKIPPED, "reason": Reason.SUPPRESSED}
UNSUBSCRIBED = SuppressionReason.UNSUBSCRIBED
BOUNCED = SuppressionReason.BOUNCED


def stop(engine: Engine, rule: Rule, reason: SuppressionReason) -> None:
    with Session(engine) as session, session.begin():
        session.add(
            Suppression(
                congregation_id=rule.congregation_id,
                address="zoe@example.org",
                reason=reason,
                created_by="the mail server",
            )
        )


@pytest.mark.parametrize(
    ("values", "reason", "sentence"),
    [
        (FAILED, BOUNCED, "The mailbox does not exist"),
        (SKIPPED, BOUNCED, "The mailbox does not exist"),
        (SKIPPED, UNSUBSCRIBED, "They unsubscribed"),
    ],
)
def test_a_mail_whose_recipient_gets_none_says_why_before_it_is_retried(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
    values: dict[str, Any],
    reason: SuppressionReason,
    sentence: str,
) -> None:
    id_ = add(recipient="Zoe@Example.org", **values)
    stop(sqlite_engine, rule, reason)
    page = as_operator.get(f"/executions/{id_}").text
    told = text_of(page, "stopped-address")
    assert "zoe@example.org is on the list of those that get no mails" in told
    assert sentence in told
    assert 'href="/suppressions/?q=zoe@example.org"' in page


def test_a_mail_that_the_list_does_not_stop_says_nothing_of_it(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    stop(sqlite_engine, rule, UNSUBSCRIBED)
    to = {"recipient": "zoe@example.org"}
    for values in (FAILED | to, FAILED, {"state": S.SUCCEEDED} | to):
        page = as_operator.get(f"/executions/{add(**values)}").text
        assert "stopped-address" not in page


def test_the_frame_shows_the_mail_and_can_do_nothing(
    as_viewer: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    id_ = add()
    assert as_viewer.get(f"/executions/{id_}/html").status_code == 404
    with Session(sqlite_engine) as session, session.begin():
        session.add(
            ExecutionMessage(
                congregation_id=rule.congregation_id,
                execution_id=id_,
                message={"html": HOSTILE},
                composed_at=utcnow(),
            )
        )
    answer = as_viewer.get(f"/executions/{id_}/html")
    assert answer.text == HOSTILE
    assert answer.headers["Content-Security-Policy"].startswith("sandbox;")


def test_hostile_words_stay_words(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    rule: Rule,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.get_one(Rule, rule.id).name = HOSTILE
        factories.booking(session, rule.congregation_id, id="h", guest_name=HOSTILE)
        session.get_one(Congregation, rule.congregation_id).name = HOSTILE
    values = FAILED | {"error": HOSTILE, "recipient": HOSTILE, "booking_id": "h"}
    id_ = add(context={HOSTILE: {HOSTILE: HOSTILE}}, **values)
    with Session(sqlite_engine) as session, session.begin():
        session.add(
            ExecutionMessage(
                congregation_id=rule.congregation_id,
                execution_id=id_,
                message={"subject": HOSTILE, "text": HOSTILE, "body": {"x": HOSTILE}},
                composed_at=utcnow(),
            )
        )
    for path in (
        "/executions/",
        f"/executions/{id_}",
        "/executions/?q=" + "%3Cscript%3Ealert(1)",
    ):
        page = as_operator.get(path).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "49" not in page or "{{7*7}}" in page


def test_a_viewer_looks_but_does_not_act(
    as_viewer: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add(**FAILED)
    page = as_viewer.get(f"/executions/{id_}").text
    assert "Your role may look, not act." in page
    for path in (f"{id_}/retry", f"{id_}/cancel", "retry", "retry-all"):
        answer = as_viewer.post(f"/executions/{path}", data={"id": [str(id_)]})
        assert answer.status_code == 403
    assert as_viewer.get("/executions/retry-all").status_code == 403
    assert state_of(sqlite_engine, id_) == S.FAILED


def test_another_congregations_executions_do_not_exist(
    log_in: Callable[..., FlaskClient],
    congregation: Congregation,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
) -> None:
    id_ = add(**FAILED)
    stranger = log_in("operator", sees_all=False, congregations=[congregation.id])
    for path in (f"/executions/{id_}", f"/executions/{id_}/html"):
        assert stranger.get(path).status_code == 404
    for path in (f"/executions/{id_}/retry", f"/executions/{id_}/cancel"):
        assert stranger.post(path).status_code == 404
    page = stranger.get("/executions/").text
    assert "No executions yet" in page
    assert "Failed 0" in text_of(page, "executions-tabs")
    assert "St. Bonifatius" not in page
    page = stranger.get("/executions/?within=bonifatius").text
    assert "No execution fits" in page
    assert "or does not exist" in page
    assert "St. Bonifatius" not in page
    assert ids_of(stranger.get(f"/executions/live?row={id_}.x").text) == []
    data = {"id": [str(id_)], "confirmed": "yes"}
    stranger.post("/executions/retry", data=data)
    data = {"high_water": utcnow().isoformat(), "confirmed": "yes"}
    stranger.post("/executions/retry-all", data=data)
    assert state_of(sqlite_engine, id_) == S.FAILED
    with Session(sqlite_engine) as session:
        assert len(session.scalars(select(Execution)).all()) == 1
