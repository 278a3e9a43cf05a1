"""How systems of this kind failed in public, and what a first sketch of this got wrong.

Each row names its case, "C5" one that was reported of another system, "A2" a defect of
the sketch, and the right value.  What other tests prove is named in ``ELSEWHERE``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from tests.tasks.automation.conftest import NOW, World
from tests.tasks.automation.known import (
    cancelling,
    changed_rules,
    dates,
    events,
    messages,
)
from tests.tasks.automation.known.case import DAY, HOUR, START, Case

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Known:
    """One known case: what happens here, and the right value of it."""

    id: str
    happens: Callable[[Case], object]
    right: object


_CANCELLED = ("cancelled", "booking_cancelled")
_EVE = START - DAY
KNOWN = [
    Known(
        "C1-mail-after-cancelling",
        cancelling.nothing_after_cancelling,
        (0, [_CANCELLED]),
    ),
    Known("C2-other-channels-live-on", cancelling.every_channel_ends, [_CANCELLED] * 2),
    Known("C3-one-seat-cancelled", cancelling.one_seat_of_two, ["b2"]),
    Known(
        "C4-still-queued-after-cancelling",
        cancelling.every_channel_ends,
        [_CANCELLED] * 2,
    ),
    Known("C5-A2-there-and-back", dates.there_and_back, ([_EVE], 1)),
    Known("C6-A7-old-host-mailed", messages.another_host, ["eve@example.org"]),
    Known(
        "C7-A6-booked-inside-the-window",
        dates.booked_inside_the_window,
        (0, [("skipped", "offset_in_past")]),
    ),
    Known("C9-all-at-booking", dates.never_early, [0, 0, 1]),
    Known("C11-missed-for-ever", dates.caught_up_once, (1, 1)),
    Known("C12-a-year-late", dates.far_too_late, (0, {"missed"})),
    Known(
        "C13-queue-decides-lateness", dates.told_by_the_row, (1, [("dispatched", "")])
    ),
    Known("C14-wrong-clock", messages.the_guests_clock, ["17:45 Asia/Kathmandu"]),
    Known(
        "C16-clock-changes",
        dates.on_days_when_clocks_change,
        (["2026-03-29T01:00", "2026-10-25T00:30"], [0, 1, 1, 1, 2, 2]),
    ),
    Known(
        "C17-edit-drops-reminders",
        changed_rules.edit_moves_what_is_ahead,
        (1, [START - timedelta(hours=30)], 2),
    ),
    Known(
        "C18-A10-off-or-deleted-fires",
        changed_rules.off_or_deleted,
        (0, [("skipped", "rule_deleted"), ("skipped", "rule_disabled")]),
    ),
    Known("C18-off-and-on-loses-jobs", changed_rules.off_and_on_again, ([START], 1)),
    Known(
        "C19-enabling-mails-everybody",
        changed_rules.enabled_for_the_future_only,
        (["b1"], 0),
    ),
    Known(
        "C20-blank-link",
        messages.a_link_that_is_missing,
        (0, [("failed", "missing_variable")]),
    ),
    Known("C21-dear-none", messages.nobody_is_called_none, ["Dear friend"]),
    Known("C29-retries-in-step", events.retries_spread, 100),
    Known("C32-A8-rolled-back-fires", events.rolled_back, (0, [], [])),
    Known(
        "C33-long-waits-in-the-broker", dates.far_ahead, (NOW + 300 * DAY - HOUR, 0, [])
    ),
    Known(
        "C39-unconfirmed-reminded",
        cancelling.not_confirmed_not_reminded,
        (0, [("skipped", "not_confirmed")]),
    ),
    Known("C41-naive-instants", dates.naive_dates, "naive_datetime"),
    Known("A1-date-in-the-key", events.twice_in_a_day, (3, True)),
    Known("A2-confirmed-again", cancelling.confirmed_again, (1, 1)),
    Known("A3-key-without-offset", changed_rules.another_offset, [timedelta(hours=48)]),
    Known("A4-now-as-reference", dates.a_repeated_confirmation, 1),
    Known("A5-absent-is-not-null", dates.a_date_left_out, 1),
    Known("A7-corrected-address", messages.a_corrected_address, ["new@example.org"]),
    Known("A9-one-duplicate-voids-all", events.one_duplicate_of_three, [0, 1, 1]),
    Known(
        "A10-no-look-before-sending",
        cancelling.looked_at_again,
        (0, [("skipped", "booking_cancelled")]),
    ),
    Known("A11-reminders-of-reminders", events.reminders_of_reminders, (True, True)),
    Known("A12-secret-in-a-snapshot", messages.no_secret_in_a_snapshot, (False, "Ada")),
    Known("A13-tenants-mixed", events.tenants_apart, (0, True)),
]

#: Cases that other tests prove: where, and by which test.
ELSEWHERE = {
    "C21-unknown-tag": ("tasks/templating/test_checking", "a_bad_template_is_refused"),
    "C23-many-workers-one-send": ("tasks/lanes/test_executions", "running_twice_does"),
    "C23-edit-races-sender": (
        "tasks/lanes/test_executions_fenced",
        "a_late_writer_is_shut",
    ),
    "C24-webhook-changes": ("tasks/outbound/test_web", "every_attempt_has_the_same"),
    "C24-lost-answer": ("tasks/outbound/test_web", "a_lost_answer_is_unknown"),
    "C25-unsubscribed": ("tasks/lanes/test_mails", "who_unsubscribed_gets_only"),
    "C26-private-targets": ("tasks/outbound/test_web", "a_name_is_looked_up_once"),
    "C27-no-deadline": ("tasks/outbound/test_web", "no_receiver_can_hold_us_longer"),
    "C28-dead-endpoint": ("tasks/outbound/test_answers", "410_ends_it"),
    "C28-endless-retries": ("tasks/lanes/test_executions", "the_last_attempt_fails"),
    "C31-signature": ("tasks/outbound/test_web", "a_receiver_can_verify_what_it_gets"),
    "C34-killed-worker": ("chaos/test_kill", "killed_workers_lose_nothing"),
    "C35-template-runs-code": ("tasks/automation/test_messages", "nothing_of_python"),
    "C38-endless-rules": ("tasks/automation/test_events", "rules_that_keep_triggering"),
    "C43-database-is-locked": ("tasks/automation/test_scheduler", "planners_racing"),
    "C45-backlog-unnoticed": ("dashboard/test_overview", "each_trouble_has_a_tile"),
    "C48-two-reminders": ("tasks/automation/test_scheduler", "two_planners_racing"),
    "C49-no-test-send": ("dashboard/test_trying", "a_test_goes_to_the_operator"),
    "A8-producer-raises": ("tasks/automation/test_events", "a_failing_producer_leaves"),
}


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.id)
def test_what_failed_elsewhere_is_right_here(world: World, known: Known) -> None:
    assert known.happens(Case(world)) == known.right


@pytest.mark.parametrize("id_", ELSEWHERE)
def test_what_other_tests_prove_is_still_proven(id_: str) -> None:
    path, name = ELSEWHERE[id_]
    assert name in (ROOT / "tests" / f"{path}.py").read_text(encoding="utf-8")
