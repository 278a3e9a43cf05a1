"""Each page of something that waits says why; lists say it in a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import (
    Account,
    Channel,
    Congregation,
    Delivery,
    DeliveryState,
    Digest,
    DigestMail,
    Event,
    Execution,
    ExecutionState,
    Hold,
    LaneSetting,
    Notification,
    Rule,
    WorkerProcess,
    new_id,
)
from tasks.registry import LANES
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.statements import statements
from tests.support.webhooks import webhooks


@pytest.fixture
def session(sqlite_engine: Engine) -> Iterator[Session]:
    with Session(sqlite_engine, expire_on_commit=False) as opened:
        yield opened


@pytest.fixture
def rule(session: Session, congregation: Congregation) -> Rule:
    made = factories.rule(session, congregation.id)
    session.commit()
    return made


@pytest.fixture
def worker(session: Session) -> None:
    """Let one worker process serve every lane."""
    session.add(
        WorkerProcess(
            id="host:7:ab",
            hostname="host",
            pid=7,
            lanes={lane.name: 1 for lane in LANES},
            started_at=utcnow(),
            heartbeat_at=utcnow(),
        )
    )
    session.commit()


def _add(session: Session, rule: Rule, **values: object) -> UUID:
    row = factories.execution(session, rule, **values)
    session.commit()
    return row.id


def _says(browser: Browser, path: str) -> str:
    text = browser.get(path).get_data(as_text=True)
    assert "Why is it waiting?" in text, text
    return text.split("Why is it waiting?")[1].split("</section>")[0]


def test_an_execution_tells_why_it_waits(
    as_viewer: Browser, session: Session, rule: Rule, worker: None
) -> None:
    soon, ago = utcnow() + timedelta(hours=1), utcnow() - timedelta(minutes=5)
    first = _add(session, rule, run_at=ago)
    due = _add(session, rule, run_at=ago + timedelta(seconds=1))
    failed = _add(session, rule, run_at=soon, attempt=2, failures=2, error="421 busy")
    turn = _add(session, rule, run_at=soon, attempt=1, error="Waits for its turn: x.")
    hushed = _add(session, rule, run_at=soon, attempt=1)
    for id_, says in (
        (first, "It is due since 5\xa0min"),
        (due, "1 is due before it"),
        (failed, "It failed 2 times; attempt 3 of 5 comes next."),
        (turn, "Waits for its turn"),
        (hushed, "quiet hours of its rule"),
    ):
        assert says in _says(as_viewer, f"/executions/{id_}"), says
    shown = as_viewer.get("/executions/?state=pending").get_data(as_text=True)
    for word in ("backing off", "its turn", "quiet hours"):
        assert f'<small class="waits">{word}</small>' in shown


def test_who_paused_and_who_holds_is_told(
    as_viewer: Browser, session: Session, rule: Rule
) -> None:
    id_ = _add(session, rule)
    assert "No worker is alive" in _says(as_viewer, f"/executions/{id_}")
    session.add(
        LaneSetting(
            lane="executions",
            is_paused=True,
            paused_by="anna@example.org",
            paused_at=utcnow(),
        )
    )
    session.add(Hold(channel=Channel.EMAIL, why="Wrong text", held_by="ben@x.org"))
    row = session.get_one(Rule, rule.id)
    row.enabled = False
    session.commit()
    told = _says(as_viewer, f"/waiting/execution/{id_}")
    assert told.index("Held by ben@x.org: “Wrong text”") < told.index("paused by anna@")
    assert "ends as skipped" in told
    assert "Nobody can say when it begins" in told
    shown = as_viewer.get("/executions/").get_data(as_text=True)
    assert '<small class="waits">held</small>' in shown


def _delivery(session: Session, congregation_id: UUID, at: datetime) -> Delivery:
    """Add a delivery that waits for its second attempt."""
    event = Event(
        congregation_id=congregation_id,
        id=new_id(),
        type="booking.confirmed",
        source="api",
        occurred_at=utcnow(),
    )
    session.add(event)
    session.flush()
    delivery_id = UUID(webhooks(session, event, "mark")["delivery_id"])
    delivery = session.get_one(Delivery, delivery_id)
    delivery.state, delivery.failures, delivery.run_at = DeliveryState.PENDING, 1, at
    return delivery


def _mail(session: Session, congregation_id: UUID) -> DigestMail:
    """Add a mail to an account that is due."""
    of = {"congregation_id": congregation_id}
    account = Account(**of, email="a@example.org", name="A")
    digest = Digest(**of, category="territory")
    session.add_all([account, digest])
    session.flush()
    to = {"digest_id": digest.id, "account_id": account.id}
    mail = DigestMail(**of, **to, run_at=utcnow(), asked_at=utcnow())
    session.add(mail)
    return mail


def _notification(session: Session, mail: DigestMail, at: datetime) -> Notification:
    """Add something that the account of a mail is told later."""
    told = Notification(
        congregation_id=mail.congregation_id,
        type="territory.returned",
        category="territory",
        account_id=mail.account_id,
        entity_type="territory",
        entity_id="t1",
        key="t1",
        settles_at=at,
        latest_at=at,
    )
    session.add(told)
    return told


def test_jobs_deliveries_and_mails_tell_it_as_well(
    as_viewer: Browser,
    session: Session,
    rule: Rule,
    worker: None,
    congregation: Congregation,
) -> None:
    later = utcnow() + timedelta(hours=2)
    job = factories.job(session, rule, run_at=later, due_at=later)
    delivery = _delivery(session, congregation.id, later)
    mail = _mail(session, congregation.id)
    session.commit()

    for path, says in (
        (f"/scheduled/{job.id}", "Its time has not come yet"),
        (f"/webhooks/deliveries/{delivery.id}", "attempt 2 comes next"),
        (f"/notifications/mails/{mail.id}", "It is due since"),
    ):
        assert says in _says(as_viewer, path), path


def test_deliveries_mails_and_notifications_lead_to_the_hold_that_keeps_them(
    as_viewer: Browser, session: Session, worker: None, congregation: Congregation
) -> None:
    later = utcnow() + timedelta(hours=2)
    delivery = _delivery(session, congregation.id, later)
    mail = _mail(session, congregation.id)
    session.flush()
    told = _notification(session, mail, later)
    hold = Hold(why="Moving house", held_by="ben@x.org")
    session.add(hold)
    session.commit()

    for path in (
        f"/webhooks/deliveries/{delivery.id}",
        f"/notifications/mails/{mail.id}",
        f"/waiting/notification/{told.id}",
    ):
        said = _says(as_viewer, path)
        assert "Held by ben@x.org: “Moving house”" in said, path
        assert f'href="/holds/{hold.id}"' in said, path


def test_what_does_not_wait_says_nothing(
    as_viewer: Browser, session: Session, rule: Rule
) -> None:
    id_ = _add(session, rule, state=ExecutionState.SUCCEEDED)
    assert "Why is it waiting?" not in as_viewer.get(f"/executions/{id_}").text
    assert as_viewer.get(f"/waiting/execution/{id_}").text.strip() == ""
    assert as_viewer.get(f"/waiting/execution/{new_id()}").status_code == 404
    assert as_viewer.get(f"/waiting/planet/{new_id()}").status_code == 404


def test_nothing_of_another_congregation_is_told(
    log_in: Callable[..., Browser],
    session: Session,
    rule: Rule,
    congregation: Congregation,
) -> None:
    id_ = _add(session, rule)
    other = factories.congregation(session, "other")
    session.commit()
    browser = log_in("viewer", sees_all=False, congregations=[other])
    assert browser.get(f"/waiting/execution/{id_}").status_code == 404


def test_words_in_a_list_cost_no_statement_a_row(
    as_viewer: Browser, session: Session, rule: Rule
) -> None:
    def cost() -> int:
        with statements() as seen:
            as_viewer.get("/executions/?state=pending")
        return len(seen)

    _add(session, rule)
    few = cost()
    for _ in range(20):
        _add(session, rule)
    assert cost() == few
    assert session.query(Execution).count() == 21
