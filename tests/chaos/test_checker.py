"""The checker finds each kind of damage; else its silence would prove nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chaos.checker import (
    INVARIANTS,
    Attempt,
    Delivery,
    Execution,
    History,
    Job,
    check,
)

EXECUTION = Execution("x", "e", None, "succeeded", None, attempt=2)
CRASHED = Attempt("x", 1, 0.0, 5.0, True, "unknown")
LAST = Attempt("x", 2, 6.0, 7.0, True, "succeeded")
FIRST_COPY, SECOND_COPY = Delivery("x", "<x@host>", 1.0), Delivery("x", "<x@host>", 6.5)
DISPATCHED = Execution("y", None, "j", "cancelled", "operator", attempt=0)
JOB = Job("j", "rule:booking:noon", "dispatched")
GOOD = History(
    acknowledged={"e": 1},
    executions=(EXECUTION, DISPATCHED),
    attempts=(CRASHED, LAST),
    deliveries=(FIRST_COPY, SECOND_COPY),
    jobs=(JOB,),
    planned=frozenset({"j"}),
    cancelled={"y": 3.0},
    audited=frozenset({"y"}),
    n_ambiguous=1,
)


def _with(execution: Execution) -> History:
    return replace(GOOD, executions=(execution, DISPATCHED))


def _tried(*attempts: Attempt) -> History:
    return replace(GOOD, attempts=attempts)


BAD = {
    "i1 event without execution": replace(GOOD, acknowledged={"e": 1, "f": 1}),
    "i1 one of two executions": replace(GOOD, acknowledged={"e": 2}),
    "i1 nothing arrived": replace(GOOD, deliveries=()),
    "i1 no reason": _with(replace(EXECUTION, state="failed")),
    "i1 job gone": replace(GOOD, planned=frozenset({"j", "k"})),
    "i1 job without reason": replace(GOOD, jobs=(JOB, Job("k", "k", "skipped"))),
    "i2 still pending": _with(replace(EXECUTION, state="pending")),
    "i2 another end": _tried(CRASHED, replace(LAST, outcome="retry")),
    "i2 without attempt": _tried(),
    "i2 went on": _tried(replace(CRASHED, outcome="succeeded"), LAST),
    "i3 gap": _tried(CRASHED, replace(LAST, number=3)),
    "i3 attempt without row": _tried(LAST),
    "i3 overlap": _tried(CRASHED, replace(LAST, started_at=3.0)),
    "i4 stranger": replace(GOOD, deliveries=(*GOOD.deliveries, Delivery("z", "", 1))),
    "i4 another id": replace(
        GOOD, deliveries=(FIRST_COPY, replace(SECOND_COPY, identity="<z@host>"))
    ),
    "i4 more copies than tries": _tried(replace(CRASHED, has_effect=False), LAST),
    "i4 unexplained": _tried(
        replace(CRASHED, outcome="crashed"), replace(LAST, outcome="succeeded")
    ),
    "i4 too many": replace(GOOD, n_ambiguous=0),
    "i5 sent late": replace(GOOD, cancelled={"x": -90.0}, audited=frozenset("x")),
    "i6 lease": _with(replace(EXECUTION, is_leased=True)),
    "i6 open attempt": _tried(CRASHED, replace(LAST, outcome=None)),
    "i6 file": replace(GOOD, leftovers=("half.tmp",)),
    "i7 not audited": replace(GOOD, audited=frozenset()),
    "i8 not made": replace(GOOD, executions=(EXECUTION,)),
    "i8 made twice": replace(
        GOOD, executions=(*GOOD.executions, replace(DISPATCHED, id="z"))
    ),
    "i8 skipped, yet made": replace(GOOD, jobs=(replace(JOB, state="skipped"),)),
    "i8 planned twice": replace(GOOD, jobs=(JOB, replace(JOB, id="k"))),
}


def test_a_good_history_has_no_violations() -> None:
    assert check(GOOD) == []


@pytest.mark.parametrize("name", BAD)
def test_damage_is_found(name: str) -> None:
    assert any(say.startswith(f"{name[:2]}_") for say in check(BAD[name]))


def test_every_invariant_is_shown_to_fail() -> None:
    assert {name[:2] for name in BAD} == {each.__name__[:2] for each in INVARIANTS}
