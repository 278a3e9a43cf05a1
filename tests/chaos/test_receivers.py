"""F09 and F10: mail servers and webhook receivers that refuse, cut, lie and send away.

What takes a deadline's length to see (hanging, dripping) is tested beside the code,
in ``tests/tasks/outbound``.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import update

from tasks.clock import utcnow
from tasks.models import Attempt, AttemptOutcome, Execution, ExecutionState, Reason
from tests.chaos.harness import CALM, Installation
from tests.chaos.tiers import TIER
from tests.support.hook_sink import Reply
from tests.support.processes import until

#: A jitter of the first wait goes up to this.
FIRST_WAIT = timedelta(seconds=30)


def _execution(system: Installation, action: str) -> Execution:
    with system.begin() as session:
        return session.query(Execution).where(Execution.action == action).one()


def _first_attempt(system: Installation, action: str) -> Attempt:
    """Return the first attempt once it has ended."""
    id_: UUID = _execution(system, action).id

    def ended() -> Attempt | None:
        with system.begin() as session:
            attempt = session.get(Attempt, (id_, 1))
            return attempt if attempt and attempt.outcome else None

    return until(ended, 60, 0.05)


def _hurry(system: Installation) -> None:
    """Let what waits for its next try go now."""
    with system.begin() as session:
        session.execute(
            update(Execution)
            .where(Execution.state == ExecutionState.PENDING)
            .values(run_at=utcnow())
        )


@pytest.mark.timeout(TIER.timeout)
@pytest.mark.parametrize("reply", ["421 4.3.2 Closing", "451 4.3.0 Later"])
def test_a_mail_that_is_put_off_is_tried_again(
    system: Installation, reply: str
) -> None:
    system.mails.refuse("rcpt", reply, times=1)
    system.producer.emit()
    system.start(**CALM)
    attempt = _first_attempt(system, "email")
    waiting = _execution(system, "email")

    assert (attempt.outcome, attempt.status_code) == ("retry", int(reply[:3]))
    assert waiting.failures == 1
    assert waiting.run_at <= attempt.finished_at + FIRST_WAIT
    _hurry(system)
    system.drain()
    system.check()
    assert len(system.mails.mails) == 1


@pytest.mark.timeout(TIER.timeout)
def test_a_mail_that_is_refused_for_good_fails_once(system: Installation) -> None:
    system.mails.refuse("rcpt", "550 5.1.1 Nobody here")
    system.producer.emit()
    system.start(**CALM)
    system.drain()
    system.check()
    failed = _execution(system, "email")
    assert (failed.state, failed.reason) == ("failed", Reason.REFUSED)
    assert (failed.attempt, system.mails.mails) == (1, [])


@pytest.mark.timeout(TIER.timeout)
def test_a_line_cut_after_the_final_dot_is_unknown_and_keeps_its_id(
    system: Installation,
) -> None:
    system.mails.drop("end", times=1)
    system.n_ambiguous += 1
    system.producer.emit()
    system.start(**CALM)
    assert _first_attempt(system, "email").outcome is AttemptOutcome.UNKNOWN
    _hurry(system)
    system.drain()
    system.check()
    assert len({mail.message["Message-ID"] for mail in system.mails.mails}) == 1
    assert len(system.mails.mails) == 2


@pytest.mark.timeout(TIER.timeout)
@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(503), AttemptOutcome.RETRY),
        (Reply(429, headers={"Retry-After": "120"}), AttemptOutcome.RETRY),
        (Reply(302, headers={"Location": "/elsewhere"}), AttemptOutcome.RETRY),
        (Reply(kind="drop"), AttemptOutcome.UNKNOWN),
        (Reply(kind="huge"), AttemptOutcome.SUCCEEDED),
    ],
    ids=["busy", "asks for time", "redirect", "cut", "huge"],
)
def test_a_webhook_that_is_not_taken_is_tried_again_as_it_was(
    system: Installation, reply: Reply, outcome: AttemptOutcome
) -> None:
    system.hooks.answer("/hook", reply, Reply())
    system.n_ambiguous += 1
    system.producer.emit()
    system.start(**CALM)
    attempt = _first_attempt(system, "webhook")
    waiting = _execution(system, "webhook")

    assert attempt.outcome is outcome
    if reply.status == 429:
        assert waiting.run_at >= attempt.finished_at + timedelta(seconds=119)
    _hurry(system)
    system.drain()
    system.check()
    assert {hook.path for hook in system.hooks.requests} == {"/hook"}
    assert len(system.hooks.requests) == (1 if outcome == "succeeded" else 2)


@pytest.mark.timeout(TIER.timeout)
def test_a_webhook_that_is_gone_fails_once(system: Installation) -> None:
    system.hooks.answer("/hook", Reply(410))
    system.producer.emit()
    system.start(**CALM)
    system.drain()
    system.check()
    gone = _execution(system, "webhook")
    assert (gone.state, gone.reason, gone.attempt) == ("failed", Reason.REFUSED, 1)
