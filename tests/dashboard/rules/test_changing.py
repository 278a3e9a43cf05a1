"""A rule that exists is edited, switched off and on, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import (
    Decision,
    DecisionOutcome,
    Execution,
    ExecutionState,
    JobState,
    Rule,
    ScheduledJob,
)
from tests.dashboard.rules.conftest import mail, soup, words
from tests.support import factories


def test_a_rule_is_edited(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add(factories.reminder)
    form = soup(as_operator.get(f"/rules/{rule_id}/edit"))
    offset, version = form.select_one("#offset_value"), form.select_one("#version")
    assert offset is not None
    assert version is not None
    assert (offset["value"], version["value"]) == ("24", "1")

    data = mail(house, name="Sooner", version="1", trigger_type="time.before_recording")
    answer = as_operator.post(f"/rules/{rule_id}", data=data | {"offset_value": "2"})

    assert answer.location == f"/rules/{rule_id}"
    (rule,) = read(Rule)
    assert (rule.name, rule.offset_value, rule.version) == ("Sooner", 2, 2)
    assert "2 hours before the recording" in words(as_operator.get(answer.location))


def test_two_operators_do_not_overwrite_each_other(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add()
    path = f"/rules/{rule_id}"
    as_operator.post(path, data=mail(house, name="First", version="1"))
    answer = as_operator.post(path, data=mail(house, name="Second", version="1"))

    assert answer.status_code == 409
    assert "changed this rule meanwhile" in words(answer)
    assert [rule.name for rule in read(Rule)] == ["First"]


def test_a_bad_edit_changes_nothing(
    as_operator: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add()
    answer = as_operator.post(
        f"/rules/{rule_id}", data=mail(house, version="1", scope=f"{house}/elsewhere")
    )

    assert answer.status_code == 422
    assert "There is no podcast “elsewhere” here" in words(answer)
    assert read(Rule)[0].version == 1


def test_planning_what_comes_is_asked_for(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    data = mail(house, trigger_type="time.before_recording")
    quiet = as_operator.post("/rules/", data=data)
    assert read(ScheduledJob) == []
    assert "Plan for what is coming" in words(as_operator.get(quiet.location))

    asked = mail(house, trigger_type="time.before_recording", also_coming="y")
    foretold = as_operator.post("/rules/", data=asked)
    assert "1 job is planned" in words(foretold)
    assert read(ScheduledJob) == []
    answer = as_operator.post("/rules/", data=asked | {"confirmed": "y"})
    (job,) = read(ScheduledJob)
    assert job.state is JobState.PENDING
    page = words(as_operator.get(answer.location))
    assert "1 job planned." in page
    assert "Jörg" in page

    as_operator.post(f"{quiet.location}/enable?coming=1")
    assert len(read(ScheduledJob)) == 2


def test_a_rule_is_switched_off_and_on_where_it_is_listed(
    as_operator: FlaskClient, add: Callable[..., UUID], read: Callable[..., list[Any]]
) -> None:
    rule_id = add()
    here = "http://localhost/rules/?text=wel"
    answer = as_operator.post(f"/rules/{rule_id}/disable", headers={"Referer": here})

    assert answer.location == "/rules/?text=wel"
    assert not read(Rule)[0].enabled
    page = as_operator.get(answer.location)
    assert "switched off. What is pending stays" in words(page)
    assert soup(page).select_one(f"#rule-{rule_id} [data-state=disabled]") is not None

    as_operator.post(f"/rules/{rule_id}/enable")
    assert read(Rule)[0].enabled


def test_a_rule_with_overdue_work_is_switched_on_with_a_plan(
    as_operator: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    read: Callable[..., list[Any]],
) -> None:
    late = utcnow() - timedelta(minutes=5)
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, house, enabled=False)
        factories.execution(session, rule, run_at=late, due_at=late)
        path = f"/rules/{rule.id}"

    answer = as_operator.post(f"{path}/enable")
    assert answer.location == f"{path}/switch-on"
    assert not read(Rule)[0].enabled
    page = soup(as_operator.get(answer.location))
    assert "1 is still of use" in " ".join(page.text.split())
    fields = page.select("form.question input[type=hidden]")
    data = {str(field["name"]): str(field["value"]) for field in fields}
    refused = as_operator.post(f"{path}/enable", data=data)
    assert refused.status_code == 422
    assert "Choose what becomes of what waits." in words(refused)
    as_operator.post(f"{path}/enable", data=data | {"plan": "drop"})
    assert read(Rule)[0].enabled
    assert [one.state for one in read(Execution)] == [ExecutionState.CANCELLED]
    assert "Nothing is overdue" in words(as_operator.get(f"{path}/switch-on"))


def test_a_rule_that_is_off_says_what_still_waits(
    as_operator: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, house, enabled=False)
        factories.job(session, rule)
        path = f"/rules/{rule.id}"

    assert "Still waiting: 1 scheduled job. While" in words(as_operator.get(path))


def test_deleting_says_before_and_after_what_it_cancels(
    as_operator: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    read: Callable[..., list[Any]],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, house)
        factories.job(session, rule)
        factories.execution(session, rule)
        path = f"/rules/{rule.id}"

    question = "cancels 1 scheduled job and 1 waiting execution"
    assert question in words(as_operator.get(path))
    answer = as_operator.post(f"{path}/delete")
    assert answer.location == "/rules/"
    assert "1 scheduled job and 1 execution are cancelled" in words(
        as_operator.get("/rules/")
    )
    assert [job.state for job in read(ScheduledJob)] == [JobState.CANCELLED]
    assert [one.state for one in read(Execution)] == [ExecutionState.CANCELLED]

    page = words(as_operator.get(path))
    assert "This rule was deleted" in page
    assert "Edit" not in page
    assert as_operator.get(f"{path}/edit").status_code == 404
    assert as_operator.post(f"{path}/enable").status_code == 409
    assert as_operator.post(f"{path}/delete").status_code == 409


def test_a_rules_page_tells_why_it_did_nothing(
    as_operator: FlaskClient, sqlite_engine: Engine, house: UUID
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, house)
        session.add(
            Decision(
                congregation_id=house,
                rule_id=rule.id,
                rule_version=1,
                outcome=DecisionOutcome.NO,
                reason="rule_disabled",
            )
        )
        path = f"/rules/{rule.id}"

    assert "The rule is switched off." in words(as_operator.get(path))
