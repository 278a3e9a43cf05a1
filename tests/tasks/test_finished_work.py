"""What a rule did long ago makes nothing dearer that is done with it today.

On SQLite, with the indexes in the order in which the migrations make them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from sqlalchemy import Engine, insert, make_url, select
from sqlalchemy.orm import Session

from tasks import migrations
from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.automation.step_changes import follow_steps
from tasks.automation.steps import Step
from tasks.db import make_engine, sessions
from tasks.holds import lanes, plans, rules
from tasks.models import EpisodeGuest, Execution, ExecutionState, Rule
from tasks.models.base import new_id
from tests.support import factories
from tests.support.effort import effort_of
from tests.support.factories import NOW

FEW: Final = 300
MANY: Final = 3_000
GROWTH_MAX: Final = 1.3
_HOOK: Final = {"url": "https://example.org/hook"}
_TABLE: Final = Execution.metadata.tables[Execution.__tablename__]
Work = Callable[[Session], object]


class House:
    """One rule that has done much, and has a little to do."""

    def __init__(self, engine: Engine) -> None:
        self.begin = sessions(engine).begin
        self.numbers = count()
        with self.begin() as session:
            self.id = factories.congregation(session)
            rule = factories.rule(
                session,
                self.id,
                trigger_type="guest.responded",
                action="webhook",
                settings=_HOOK,
            )
            session.add(
                EpisodeGuest(
                    congregation_id=self.id, id="g1", podcast_id="show", name="Zoë"
                )
            )
            self.rule_id: UUID = rule.id
            for step in (0, 1):
                made_at = NOW - timedelta(minutes=5)
                factories.execution(
                    session,
                    rule,
                    id=new_id(made_at),
                    created_at=made_at,
                    run_at=made_at,
                    booking_id=None,
                    step=step,
                    reason="held",
                )

    def grow(self, n: int) -> None:
        """Add executions that have succeeded, each a minute older than the next."""
        with self.begin() as session:
            one = session.scalars(select(Execution).limit(1)).one()
            row = {each.name: getattr(one, each.key) for each in _TABLE.c}
            session.execute(insert(_TABLE), [row | self._old() for _ in range(n)])

    def _old(self) -> dict[str, Any]:
        number = next(self.numbers)
        at = NOW - timedelta(days=30) + timedelta(minutes=number)
        return {
            "id": new_id(at),
            "idempotency_key": f"old {number}",
            "state": ExecutionState.SUCCEEDED,
            "reason": None,
            "created_at": at,
            "run_at": at,
            "settled_at": at,
        }

    def effort(self, work: Work) -> int:
        """Return how much some work asks of the database; nothing of it is kept."""

        def do() -> None:
            with self.begin() as session:
                work(session)
                session.rollback()

        return effort_of(do)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Return a house in a database as installations have it."""
    engine = make_engine(make_url(f"sqlite:///{tmp_path / 'migrated.db'}"))
    migrations.upgrade(engine)
    yield House(engine)
    engine.dispose()


def _works(house: House) -> dict[str, Work]:
    numbers = count()
    held = {
        "state": "pending",
        "reason": "held",
        "rule_id": str(house.rule_id),
        "congregation_id": str(house.id),
    }

    def report(session: Session) -> None:
        event = AutomationEvent(
            "guest.responded",
            "show",
            guest_id="g1",
            event_id=str(next(numbers)),
            congregation_id=house.id,
        )
        assert emit_automation_event(session, event, now=NOW).executions_created == 1

    def another_delay(session: Session) -> None:
        rule = session.get_one(Rule, house.rule_id)
        before, after = (
            Step(1, timedelta(minutes=n), "webhook", _HOOK, 5) for n in (60, 90)
        )
        assert follow_steps(session, rule, [before], [after], NOW).n_moved == 1

    return {
        "an event that may come of the rule": report,
        "another delay of a step": another_delay,
        "what a hold of the rule holds": lambda s: plans.outlook(s, held, NOW),
        "how much it holds": lambda s: plans.n_waiting(s, held, NOW, 10),
        "what is overdue in the lane": lambda s: lanes.overdue(s, "executions", NOW),
        "what is overdue of the rule": lambda s: rules.overdue_of(
            s, house.rule_id, NOW
        ),
    }


def test_what_a_rule_did_long_ago_makes_nothing_dearer(house: House) -> None:
    works = _works(house)
    house.grow(FEW)
    before = {name: house.effort(work) for name, work in works.items()}
    house.grow(MANY - FEW)
    after = {name: house.effort(work) for name, work in works.items()}
    assert all(before.values())
    dearer = {
        name: (n, after[name])
        for name, n in before.items()
        if after[name] > GROWTH_MAX * n
    }
    assert dearer == {}
