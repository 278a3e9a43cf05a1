"""Why something waits: each reason alone, and which comes first."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from dashboard.waiting.reasons import Queue, Row, Standing, Stopped, explain
from tests.support.factories import NOW

SOON = NOW + timedelta(minutes=20)
AGO = NOW - timedelta(minutes=3)
LANE: dict[str, Any] = {
    "title": "Executions",
    "every": timedelta(seconds=1),
    "batch": 500,
    "swept_at": NOW,
}
HOLD = Stopped(UUID(int=7), "ines@example.org", "wrong text", AGO, None)


def _lane(**values: Any) -> Standing:
    return Standing(**LANE | values)


CASES: list[tuple[str, Row, Standing, dict[str, Any], datetime | None]] = [
    ("held", Row(AGO), _lane(), {"stopped": HOLD}, None),
    (
        "held",
        Row(AGO),
        _lane(),
        {"stopped": Stopped(UUID(int=8), "ines", "x", AGO, SOON), "queue": Queue()},
        SOON,
    ),
    ("lane paused", Row(AGO), _lane(paused_by="ines", paused_at=AGO), {}, None),
    ("no worker", Row(AGO), _lane(has_any_worker=False, has_worker=False), {}, None),
    ("no worker", Row(SOON), _lane(has_worker=False), {}, None),
    ("not due yet", Row(SOON), _lane(), {}, SOON),
    ("settling", Row(SOON, settles=True), _lane(), {}, SOON),
    ("backing off", Row(SOON, failures=2, max_attempts=5), _lane(), {}, SOON),
    ("its turn", Row(SOON, put_off="Waits for its turn: 3 in 5."), _lane(), {}, SOON),
    (
        "host hangs",
        Row(SOON, put_off="Waits for a.example.", is_host_silent=True),
        _lane(),
        {},
        SOON,
    ),
    ("quiet hours", Row(SOON, is_hushed=True), _lane(), {}, SOON),
    ("runs alone", Row(AGO, is_suspect=True), _lane(), {"queue": Queue()}, NOW),
    ("lane busy", Row(AGO), _lane(), {"queue": Queue(busy="At another one.")}, None),
    ("about to begin", Row(AGO), _lane(), {"queue": Queue()}, NOW),
    (
        "about to begin",
        Row(AGO),
        _lane(every=timedelta(minutes=5), swept_at=AGO),
        {"queue": Queue()},
        AGO + timedelta(minutes=5),
    ),
    ("others before it", Row(AGO), _lane(), {"queue": Queue(9, AGO)}, NOW),
    (
        "others before it",
        Row(AGO),
        _lane(),
        {"queue": Queue(6_000, AGO, 100.0)},
        NOW + timedelta(minutes=1),
    ),
    ("others before it", Row(AGO), _lane(), {"queue": Queue(6_000, AGO)}, None),
    ("receiver busy", Row(AGO), _lane(), {"queue": Queue(full="Busy.")}, None),
]


@pytest.mark.parametrize(("word", "row", "lane", "more", "starts_at"), CASES)
def test_each_reason_has_its_word_and_its_expected_start(
    word: str,
    row: Row,
    lane: Standing,
    more: dict[str, Any],
    starts_at: datetime | None,
) -> None:
    found = explain(row, lane, NOW, **more)
    assert (found.word, found.starts_at) == (word, starts_at)
    assert all(each.sentence.endswith((".", "attempt.")) for each in found.reasons)


def test_several_reasons_are_all_told_what_blocks_first() -> None:
    row = Row(SOON, failures=1, max_attempts=3, ends="The rule is switched off.")
    lane = _lane(paused_by="ines@example.org", paused_at=AGO)
    found = explain(row, lane, NOW, stopped=HOLD)
    words = [each.word for each in found.reasons]
    assert words == ["held", "lane paused", "backing off", "will end"]
    told = " ".join(each.sentence for each in found.reasons)
    assert "Held by ines@example.org: “wrong text”" in told
    assert "paused by ines@example.org at 11:57 UTC on 10 March" in told
    assert "It failed 1 time; attempt 2 of 3 comes next." in told


def test_the_place_in_the_queue_and_the_age_of_the_oldest_are_told() -> None:
    found = explain(Row(AGO), _lane(), NOW, queue=Queue(1_234, AGO))
    assert "1\u202f234 are due before it, the first since 3\xa0min" in (
        found.reasons[0].sentence
    )
