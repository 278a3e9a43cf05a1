"""A mail that found no mailbox: its address allowed again and the mail retried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.models import AuditEntry, Reason, Rule, Suppression, SuppressionReason
from tests.dashboard.executions.conftest import FAILED, S, state_of, text_of
from tests.dashboard.executions.test_page import BOUNCED, UNSUBSCRIBED, stop

ADDRESS = {"recipient": "Zoe@Example.org"}
SKIPPED: dict[str, Any] = {"state": S.SKIPPED, "reason": Reason.SUPPRESSED} | ADDRESS
Add = Callable[..., UUID]


def _press(client: FlaskClient, id_: UUID) -> str:
    answer = client.post(f"/executions/{id_}/allow-and-retry")
    assert answer.status_code == 303
    return client.get(f"/executions/{id_}").text


def _listed(engine: Engine) -> list[Suppression]:
    with Session(engine) as session:
        return list(session.scalars(select(Suppression)))


def _deeds(engine: Engine) -> list[str]:
    with Session(engine) as session:
        wanted = select(AuditEntry.action).where(
            AuditEntry.subject_kind.in_(["execution", "suppression"])
        )
        return sorted(session.scalars(wanted))


def _form_of(page: str) -> Any:
    notice = BeautifulSoup(page, "html.parser").find(id="stopped-address")
    return notice and notice.find("form")


@pytest.mark.parametrize(
    "reason", [BOUNCED, SuppressionReason.ASKED, SuppressionReason.COMPLAINED]
)
def test_one_press_allows_the_address_and_queues_the_mail(
    as_operator: FlaskClient,
    add: Add,
    sqlite_engine: Engine,
    rule: Rule,
    reason: SuppressionReason,
) -> None:
    id_ = add(**FAILED | ADDRESS)
    stop(sqlite_engine, rule, reason)
    page = as_operator.get(f"/executions/{id_}").text
    assert _form_of(page)["action"] == f"/executions/{id_}/allow-and-retry"
    assert "every rule may write to it again" in text_of(page, "stopped-address")
    page = _press(as_operator, id_)
    assert "zoe@example.org gets mails again, and this one is queued" in page
    assert "stopped-address" not in page
    assert state_of(sqlite_engine, id_) is S.PENDING
    assert _listed(sqlite_engine) == []
    assert _deeds(sqlite_engine) == ["execution.retried", "suppression.lifted"]


def test_a_second_press_changes_nothing(
    as_operator: FlaskClient, add: Add, sqlite_engine: Engine, rule: Rule
) -> None:
    id_ = add(**FAILED | ADDRESS)
    stop(sqlite_engine, rule, BOUNCED)
    _press(as_operator, id_)
    stop(sqlite_engine, rule, BOUNCED)  # somebody stops it again meanwhile
    assert "It is queued already." in _press(as_operator, id_)
    assert len(_listed(sqlite_engine)) == 1
    assert len(_deeds(sqlite_engine)) == 2


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (UNSUBSCRIBED, "only if they have asked for mails again"),
        (BOUNCED, "there is nothing to retry. Allow the address under Suppressions"),
    ],
)
def test_who_unsubscribed_and_what_was_skipped_is_told_why_not(
    as_operator: FlaskClient,
    add: Add,
    sqlite_engine: Engine,
    rule: Rule,
    reason: SuppressionReason,
    sentence: str,
) -> None:
    id_ = add(**SKIPPED)
    stop(sqlite_engine, rule, reason)
    page = as_operator.get(f"/executions/{id_}").text
    assert _form_of(page) is None
    assert sentence in text_of(page, "stopped-address")
    page = _press(as_operator, id_)
    assert page.count(sentence) > 1  # the refusal, beside the notice
    assert state_of(sqlite_engine, id_) is S.SKIPPED
    assert len(_listed(sqlite_engine)) == 1
    assert _deeds(sqlite_engine) == []


def test_an_address_that_is_allowed_already_asks_for_an_ordinary_retry(
    as_operator: FlaskClient, add: Add, sqlite_engine: Engine
) -> None:
    id_ = add(**FAILED | ADDRESS)
    assert "not on the list any more; press Retry" in _press(as_operator, id_)
    assert state_of(sqlite_engine, id_) is S.FAILED


def test_a_mail_that_was_sent_lifts_nothing(
    as_operator: FlaskClient, add: Add, sqlite_engine: Engine, rule: Rule
) -> None:
    id_ = add(state=S.SUCCEEDED, **ADDRESS)
    stop(sqlite_engine, rule, BOUNCED)
    assert "a retry would do it twice" in _press(as_operator, id_)
    assert len(_listed(sqlite_engine)) == 1


def test_a_viewer_sees_why_and_may_not(
    as_viewer: FlaskClient, add: Add, sqlite_engine: Engine, rule: Rule
) -> None:
    id_ = add(**FAILED | ADDRESS)
    stop(sqlite_engine, rule, BOUNCED)
    page = as_viewer.get(f"/executions/{id_}").text
    assert _form_of(page) is None
    assert "may look, not act" in text_of(page, "stopped-address")
    answer = as_viewer.post(f"/executions/{id_}/allow-and-retry")
    assert answer.status_code == 403
    assert len(_listed(sqlite_engine)) == 1
