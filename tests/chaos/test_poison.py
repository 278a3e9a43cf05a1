"""F17: an execution that kills its worker is set aside, and the others go on."""

from __future__ import annotations

import signal

import pytest

from tasks.models import Execution, ExecutionState, Reason, Rule
from tasks.secrets import SecretBox, new_webhook_secret
from tests.chaos.harness import IN_FLIGHT, Installation
from tests.chaos.tiers import TIER
from tests.support import factories
from tests.support.hook_sink import Reply
from tests.support.processes import until


def _poison(system: Installation) -> Execution:
    box = SecretBox(system.environ["SECRET_KEY"])
    with system.begin() as session:
        rule: Rule = factories.rule(
            session,
            system.tenant,
            name="Poison",
            trigger_type="booking.rescheduled",
            action="webhook",
            settings={"url": system.hooks.url("/poison")},
            secret=box.seal(new_webhook_secret()),
        )
        return factories.execution(session, rule)


@pytest.mark.timeout(TIER.timeout)
def test_a_poisonous_execution_is_quarantined_and_the_others_go_on(
    system: Installation,
) -> None:
    system.hooks.answer("/poison", Reply(kind="hang"))
    poison = _poison(system)
    system.producer.emit(TIER.n_events)

    for bites in range(1, 4):
        (victim,) = system.start()
        until(lambda n=bites: _n_bites(system) == n, 60)
        victim.send_signal(signal.SIGKILL)  # dies of what it is doing
        system.died(victim, in_flight=IN_FLIGHT)
    system.start()
    system.drain(TIER.timeout)

    history = system.check()
    states = {each.id: each.state for each in history.executions}
    assert states.pop(str(poison.id)) == ExecutionState.QUARANTINED
    with system.begin() as session:
        row = session.get_one(Execution, poison.id)
        assert (row.attempt, row.reason) == (3, Reason.WORKER_CRASHES)
    assert set(states.values()) == {"succeeded"}


def _n_bites(system: Installation) -> int:
    return sum(hook.path == "/poison" for hook in system.hooks.requests)
