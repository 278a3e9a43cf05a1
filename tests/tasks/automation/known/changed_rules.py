"""What becomes of jobs when their rule is edited, switched or deleted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tasks.automation import bookings
from tasks.models import Rule
from tasks.operations.audit import Actor
from tasks.operations.rules import RuleChange, create_rule, edit_rule, enable_rule
from tasks.secrets import SecretBox
from tests.tasks.automation.conftest import NOW
from tests.tasks.automation.known.case import DAY, START, Case

ACTOR, BOX = Actor("ada@example.org"), SecretBox("0123456789abcdef0123456789abcdef")
_MAIL = RuleChange(
    "Reminder",
    "time.before_recording",
    "email",
    {"recipient": "guest", "subject": "Hello", "text": "Hello", "html": ""},
    offset_value=24,
)


def _written(case: Case, hours: int = 24) -> Rule:
    change = _hours(hours)
    with case.world.make_session.begin() as session:
        of = case.world.id
        return create_rule(session, of, change, ACTOR, BOX, now=NOW).rule


def _hours(hours: int) -> RuleChange:
    return replace(_MAIL, offset_value=hours)


def edit_moves_what_is_ahead(case: Case) -> object:
    rule = _written(case)
    case.book("b1", start=NOW + DAY)
    case.book("b2")
    sent = case.work(NOW)
    with case.world.make_session.begin() as session:
        edit_rule(session, rule.id, _hours(30), ACTOR, BOX, now=NOW)
    return sent, [job.due_at for job in case.living()], case.work(START - DAY)


def off_or_deleted(case: Case) -> object:
    off, gone = case.remind(24), case.remind(24)
    case.book()
    case.set(Rule, off.id, enabled=False)
    case.set(Rule, gone.id, deleted_at=NOW)
    return case.work(START - DAY), case.jobs()


def off_and_on_again(case: Case) -> object:
    rule = case.remind()
    case.book()
    case.set(Rule, rule.id, enabled=False)
    case.do(bookings.reschedule, "b1", START + DAY)
    case.set(Rule, rule.id, enabled=True)
    return [job.due_at for job in case.living()], case.work(START)


def enabled_for_the_future_only(case: Case) -> object:
    case.book("b1")
    case.book("b2", start=NOW + timedelta(hours=5))
    rules = [case.remind(enabled=False), case.world.rule("booking.canceled")]
    with case.world.make_session.begin() as session:
        for rule in rules:
            enable_rule(session, rule.id, ACTOR, now=NOW, also_coming=True)
    return [job.booking_id for job in case.living()], case.work(NOW)


def another_offset(case: Case) -> object:
    rule = _written(case)
    case.book()
    with case.world.make_session.begin() as session:
        edit_rule(session, rule.id, _hours(48), ACTOR, BOX, now=NOW)
    return [START - job.due_at for job in case.living()]
