"""A row that makes the program fail before its effect ends alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from tasks.automation.actions import ACTIONS
from tasks.executing.apart import apart
from tasks.lanes.executions import sweep
from tasks.models import ExecutionState, Reason
from tasks.templating.renderer import RenderingBroken
from tests.support import factories
from tests.support.executed import Sessions, get_one, noon
from tests.support.fakes import FakePost, bench


def _halved(bad: set[int]) -> tuple[list[str], int]:
    """Return what becomes of ten numbers, and how often was asked for it."""
    asked: list[int] = []

    def step(some: Sequence[int]) -> list[str]:
        asked.append(len(some))
        if bad & set(some):
            raise ZeroDivisionError
        return [f"{each} well" for each in some]

    told = apart(step, range(10), lambda n, error: f"{n} {type(error).__name__}")
    return told, len(asked)


def test_all_are_asked_at_once_while_all_is_well() -> None:
    told, n = _halved(set())
    assert told == [f"{each} well" for each in range(10)]
    assert n == 1


def test_only_what_fails_alone_is_broken_and_the_order_stays() -> None:
    told, n = _halved({7})
    assert told == [
        "7 ZeroDivisionError" if each == 7 else f"{each} well" for each in range(10)
    ]
    assert n <= 2 * 4 + 1  # two a halving


@pytest.mark.parametrize(
    "error", [OperationalError("x", {}, Exception()), RenderingBroken("none starts")]
)
def test_what_concerns_all_is_raised(error: Exception) -> None:
    def step(_some: Sequence[int]) -> list[int]:
        raise error

    with pytest.raises(type(error)):
        apart(
            step,
            [1, 2],
            lambda n, _error: n,
            of_all=(OperationalError, RenderingBroken),
        )


# A few begin in the transaction that takes them; many are leased first.
@pytest.mark.parametrize("n", [1, 3, 12])
def test_an_execution_that_cannot_be_looked_at_fails_alone(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        factories.booking(session, tenant, id="bad", guest_email="bad@example.org")
        rule = factories.rule(session, tenant)
        ids = [factories.execution(session, rule).id for _ in range(n - 1)]
        bad = factories.execution(session, rule, booking_id="bad").id
    email = ACTIONS["email"]
    usual = email.recipient

    def recipient(
        settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        if context["booking"]["id"] == "bad":
            raise ZeroDivisionError
        return usual(settings, context)

    monkeypatch.setattr(email, "recipient", recipient)
    swept = sweep(bench(make_session, noon, FakePost()), 20)

    assert set(swept.succeeded) == set(ids)
    assert swept.failed == (bad,)
    row = get_one(make_session, bad)
    assert (row.state, row.reason) == (ExecutionState.FAILED, Reason.BAD_MESSAGE)
    assert "see its log" in (row.error or "")
