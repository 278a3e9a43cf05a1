"""Each way in which nothing happens has its sentence, and the right step decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tasks.automation.explaining import Check, Facts, Holds, Present, explain
from tasks.models import BookingStatus, Reason, new_id
from tasks.saying import language
from tests.support.factories import NOW
from tests.tasks.automation.explaining.dates import DATES
from tests.tasks.automation.explaining.events import EVENTS
from tests.tasks.automation.explaining.facts import (
    DAY,
    EVENT,
    FIRED,
    S,
    booking,
    execution,
    rule,
    said,
)


@pytest.mark.parametrize("case", [*EVENTS, *DATES])
def test_the_step_that_decided_says_why(case: str) -> None:
    facts, holds, sentence = (EVENTS | DATES)[case]
    verdict = explain(facts, NOW).verdict
    assert sentence in verdict.sentence
    assert verdict.holds is holds


def test_a_duplicate_leads_to_the_first_execution() -> None:
    first = new_id()
    decision = said(Reason.DUPLICATE, execution_id=first)
    verdict = explain(Facts(rule(), booking(), EVENT, decision), NOW).verdict
    assert verdict.link is not None
    assert (verdict.link.kind, verdict.link.id) == ("execution", first)


def test_what_would_stop_it_now_is_a_note_where_nothing_waits() -> None:
    facts = Facts(
        rule(), booking(status=BookingStatus.CANCELLED), EVENT, said(Reason.DUPLICATE)
    )
    facts = replace(facts, present=Present(guard=Reason.BOOKING_CANCELLED))
    last = explain(facts, NOW).checks[-1]
    expected = "If it were to act now, this would stop it: The booking was cancelled."
    assert last == Check(Holds.NOTE, expected)


def test_conditions_that_do_not_hold_now_are_told_with_what_was_seen() -> None:
    present = Present(unmet="Wanted: guest.name is “Ada”. Seen: nothing.")
    last = explain(Facts(rule(), booking(), present=present), NOW).checks[-1]
    assert last.sentence.endswith("Wanted: guest.name is “Ada”. Seen: nothing.")


def test_quiet_hours_are_told_as_a_wait() -> None:
    present = Present(quiet_until=NOW + DAY)
    last = explain(Facts(rule(), booking(), present=present), NOW).checks[-1]
    assert last.holds is Holds.NOTE
    assert "it would wait until Wed 11 Mar 2026, 12:00 UTC" in last.sentence


def test_why_it_ended_is_said_in_the_reader_s_language() -> None:
    row = execution(S.SKIPPED, error="The address answered 503.")
    facts = Facts(rule(), booking(), EVENT, FIRED, execution=row)
    token = language.set("fr")
    try:
        verdict = explain(facts, NOW).verdict
    finally:
        language.reset(token)
    assert verdict.sentence.endswith("L’adresse a répondu 503.")
