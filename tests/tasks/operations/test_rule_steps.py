"""Later steps are checked, numbered for ever, and keep their secrets to themselves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation import emit_booking_event
from tasks.automation.step_changes import StepsChanged
from tasks.db import Begin
from tasks.models import AuditEntry, Execution, ExecutionState, Rule
from tasks.operations.audit import Actor
from tasks.operations.rule_documents import change_of, document_of
from tasks.operations.rule_steps import DELAY_MAX, STEPS_MAX, StepChange
from tasks.operations.rules import (
    InvalidRule,
    RuleChange,
    create_rule,
    edit_rule,
    rotate_secret,
)
from tasks.secrets import SecretBox
from tests.support import factories
from tests.support.factories import NOW

ACTOR = Actor("ada@example.org")
BOX = SecretBox("0123456789abcdef0123456789abcdef")
TARGET = "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"
MASK = "discord://••••V_js"
NOTIFY = {"target": TARGET, "title": "", "words": "{{ guest.name }}"}
MAIL = RuleChange(
    name="Welcome",
    trigger_type="booking.confirmed",
    action="email",
    settings=dict(factories.EMAIL_SETTINGS),
)
AGAIN = StepChange("email", 2880, dict(factories.EMAIL_SETTINGS))
CHAT = StepChange("notify", 60, NOTIFY)
HOOK = StepChange("webhook", 0, {"url": "https://example.org/hook"})


@pytest.fixture
def of(begin: Begin) -> UUID:
    """Return the id of a congregation with a confirmed booking."""
    with begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        return tenant


def change(*steps: StepChange, **values: Any) -> RuleChange:
    return replace(MAIL, steps=steps, **values)


def create(session: Session, of: UUID, *steps: StepChange, **values: Any) -> Rule:
    said = change(*steps, **values)
    return create_rule(session, of, said, ACTOR, BOX, now=NOW).rule


def edit(session: Session, rule: Rule, *steps: StepChange, **values: Any) -> Any:
    return edit_rule(session, rule.id, change(*steps, **values), ACTOR, BOX, now=NOW)


def numbers(rule: Rule) -> list[int]:
    return [step["number"] for step in rule.steps]


def test_steps_are_numbered_in_their_order(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, AGAIN, CHAT)

        assert numbers(rule) == [1, 2]
        assert [step["delay"] for step in rule.steps] == [2880, 60]


def test_a_number_never_comes_twice(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, AGAIN, replace(AGAIN, delay=5))
        edit(session, rule, replace(AGAIN, number=1))
        edit(session, rule, replace(AGAIN, number=1), replace(AGAIN, delay=7))

        assert numbers(rule) == [1, 3]


def test_an_order_may_change_and_a_number_said_twice_counts_once(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        rule = create(session, of, AGAIN, replace(AGAIN, delay=5))
        one, two = replace(AGAIN, number=1), replace(AGAIN, number=2)
        edit(session, rule, two, one, replace(one, delay=9), replace(one, number=77))

        assert numbers(rule) == [2, 1, 3, 4]


def test_saving_the_same_steps_changes_nothing(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, AGAIN, CHAT)
        kept = replace(CHAT, number=2, settings={**NOTIFY, "target": MASK})
        saved = edit(session, rule, replace(AGAIN, number=1), kept)

        assert not saved.changed
        assert rule.version == 1


@pytest.mark.parametrize(
    ("field", "step"),
    [
        ("steps.0.delay", replace(AGAIN, delay=-1)),
        ("steps.0.delay", replace(AGAIN, delay=DELAY_MAX + 1)),
        ("steps.0.max_attempts", replace(AGAIN, max_attempts=0)),
        ("steps.0.action", replace(AGAIN, action="fax")),
        ("steps.0.url", replace(HOOK, settings={"url": "http://10.0.0.1/"})),
        ("steps.0.target", replace(CHAT, settings={**NOTIFY, "target": "file:///x"})),
        ("steps.0.words", replace(CHAT, settings={**NOTIFY, "words": "{{ x.y }}"})),
        ("steps.0.words", replace(CHAT, settings={**NOTIFY, "words": "a\x00b"})),
        ("steps.0.lane", StepChange("start_lane", 0, {"lane": "executions"})),
    ],
)
def test_what_is_wrong_with_a_step_is_said_at_its_field(
    begin: Begin, of: UUID, field: str, step: StepChange
) -> None:
    with begin() as session, pytest.raises(InvalidRule) as refused:
        create(session, of, step)

    assert list(refused.value.problems) == [field]
    assert len(refused.value.problems[field].split()) > 2


def test_a_rule_has_only_so_many_steps(begin: Begin, of: UUID) -> None:
    with begin() as session, pytest.raises(InvalidRule) as refused:
        create(session, of, *[AGAIN] * (STEPS_MAX + 1))

    assert list(refused.value.problems) == ["steps"]


def test_an_address_is_sealed_and_only_its_mask_is_kept(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, CHAT, action="notify", settings=NOTIFY)

        assert rule.settings["target"] == MASK
        assert rule.steps[0]["settings"]["target"] == MASK
        assert {BOX.unseal(each) for each in rule.step_secrets.values()} == {TARGET}
        assert set(rule.step_secrets) == {"0", "1"}
        entry = session.scalars(select(AuditEntry)).one()
        assert "JHMHI8" not in repr((entry.after, entry.summary, document_of(rule)))


def test_a_mask_keeps_the_address_whatever_else_changes(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, AGAIN, CHAT)
        sealed = rule.step_secrets["2"]
        kept = replace(CHAT, number=2, settings={**NOTIFY, "target": MASK}, delay=5)
        edit(session, rule, kept, replace(AGAIN, number=1))

        assert rule.step_secrets == {"2": sealed}


def test_another_address_takes_the_place_of_the_first(begin: Begin, of: UUID) -> None:
    other = "jsons://example.org/hook"
    with begin() as session:
        rule = create(session, of, CHAT)
        edit(
            session, rule, replace(CHAT, number=1, settings={**NOTIFY, "target": other})
        )

        assert BOX.unseal(rule.step_secrets["1"]) == other


def test_a_secret_goes_with_its_step(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, CHAT)
        edit(session, rule, replace(AGAIN, number=1))

        assert rule.step_secrets == {}


@pytest.mark.parametrize("number", [None, 1, 9])
def test_a_mask_without_an_address_is_refused(
    begin: Begin, of: UUID, number: int | None
) -> None:
    masked = replace(CHAT, number=number, settings={**NOTIFY, "target": MASK})
    with begin() as session:
        rule = create(session, of, AGAIN)
        with pytest.raises(InvalidRule) as refused:
            edit(session, rule, masked)

    assert "give it again" in refused.value.problems["steps.0.target"]


def test_a_webhook_in_a_later_step_is_signed_as_well(begin: Begin, of: UUID) -> None:
    with begin() as session:
        saved = create_rule(session, of, change(HOOK), ACTOR, BOX, now=NOW)
        assert saved.secret is not None
        assert saved.secret.startswith("whsec_")

        again = rotate_secret(session, saved.rule.id, ACTOR, BOX)
        assert again.secret != saved.secret


def test_a_rule_that_becomes_a_webhook_gets_a_signing_secret(
    begin: Begin, of: UUID
) -> None:
    """The address of a chat is no signing secret."""
    with begin() as session:
        rule = create(session, of, action="notify", settings=NOTIFY)
        saved = edit(session, rule, action="webhook", settings=HOOK.settings)

        assert saved.secret.startswith("whsec_")
        assert rule.step_secrets == {}


def test_the_steps_are_in_the_audit_log(begin: Begin, of: UUID) -> None:
    with begin() as session:
        create(session, of, AGAIN)
        entry = session.scalars(select(AuditEntry)).one()

        assert entry.after is not None
        assert entry.after["step 2: after"] == "2 days, 0:00:00"


def test_a_document_brings_the_steps_back(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, AGAIN, HOOK)
        said = change_of(document_of(rule))

        assert [step.number for step in said.steps] == [1, 2]
        assert not edit_rule(session, rule.id, said, ACTOR, BOX, now=NOW).changed


def test_what_waits_follows_an_edit(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, AGAIN, replace(AGAIN, delay=60))
        emit_booking_event(
            session, "booking.confirmed", "b1", "show", congregation_id=of, now=NOW
        )
    with begin() as session:
        saved = edit(session, rule, replace(AGAIN, number=1, delay=5))
        assert saved.stepped == StepsChanged(n_ended=1, n_moved=1)

    with begin() as session:
        found = {row.step: row for row in session.scalars(select(Execution))}
        assert found[1].run_at == NOW + timedelta(minutes=5)
        assert found[2].state is ExecutionState.CANCELLED
        assert found[0].state is ExecutionState.PENDING


@pytest.mark.parametrize(
    ("values", "state", "action"),
    [
        ({}, ExecutionState.PENDING, "notify"),
        # It was held, or waited for its turn.
        ({"attempt": 2}, ExecutionState.PENDING, "notify"),
        ({"attempt": 1, "failures": 1}, ExecutionState.CANCELLED, "email"),
        ({"attempt": 1, "crashes": 1}, ExecutionState.CANCELLED, "email"),
    ],
)
def test_a_step_that_does_something_else_ends_what_was_tried_as_it_was(
    begin: Begin, of: UUID, values: dict[str, Any], state: str, action: str
) -> None:
    with begin() as session:
        rule = create(session, of)
        id_ = factories.execution(session, rule, **values).id
        saved = edit(session, rule, action="notify", settings=NOTIFY)
    with begin() as session:
        row = session.get_one(Execution, id_)
    assert (row.state, row.action) == (state, action)
    assert saved.stepped.n_ended == (state == ExecutionState.CANCELLED)
