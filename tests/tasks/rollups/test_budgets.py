"""Lateness budgets: what is used up, who is told, and what may be promised."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.budgets.queries import endangered
from dashboard.charts import series
from dashboard.charts.periods import PERIODS
from dashboard.operators.models import operator_congregations
from tasks import registry
from tasks.errors import InvalidInput, NotFound
from tasks.lanes import rollups
from tasks.models import (
    AdminMail,
    AuditEntry,
    LaneBudget,
    Measure,
    Rule,
    RuleBudget,
)
from tasks.operations.audit import Actor
from tasks.operations.budgets import Promise, set_lane_budget, set_rule_budget
from tasks.rollups.adding import add
from tasks.rollups.burning import burns
from tasks.rollups.counting import Place
from tasks.rollups.warning import (
    BETWEEN,
    LOOKED_MAX,
    QUIET_FOR,
    look_at_budgets,
)
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.operators import operator

Sessions = sessionmaker[Session]
ANNA = Actor("anna@example.org")
MINUTE = Promise(950, 60)
EVERY = registry.lane("rollups").every


def _waited(session: Session, rule_id: UUID, at: datetime, n: int, late: int) -> None:
    """Count ``n`` that began in time and ``late`` that began after an hour."""
    tenant = session.get_one(Rule, rule_id).congregation_id
    place = Place(tenant, "executions", rule_id, at.replace(minute=0), 0)
    in_time, too_late = Measure.WAIT + 11, Measure.WAIT + 15
    counted = {in_time: n, too_late: late}
    add(session, {place._replace(measure=m): n for m, n in counted.items()})


def _rule(make_session: Sessions) -> UUID:
    with make_session.begin() as session:
        rule = factories.rule(session, factories.congregation(session)).id
        set_rule_budget(session, rule, MINUTE, ANNA, now=NOW)
        set_lane_budget(session, "executions", "Executions", MINUTE, ANNA, now=NOW)
        return rule


def _sweep(make_session: Sessions, at: datetime = NOW) -> None:
    rollups.sweep(bench(make_session, lambda: at, FakePost()), 10)


def test_a_budget_is_burnt_by_what_began_too_late(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        _waited(session, rule, NOW, 90, 3)
        _waited(session, rule, NOW - timedelta(days=3), 105, 2)
        _waited(session, rule, NOW - timedelta(days=9), 0, 500)
        budgets = [
            *session.scalars(select(RuleBudget)),
            *session.scalars(select(LaneBudget)),
        ]
        found = burns(session, budgets, NOW)
    assert set(found) == {rule, "executions"}
    for day, week in found.values():
        assert (day.n, day.n_late) == (93, 3)
        assert day.used == pytest.approx(3 / 4.65)
        assert (week.n, week.n_late, week.allowed) == (200, 5, 10)


def test_admins_are_told_once_before_it_breaks(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        operator(session, "ada@example.org", "admin")
        _waited(session, rule, NOW, 96, 3)  # 61 % of it
    _sweep(make_session)
    assert _mails(make_session) == []
    with make_session.begin() as session:
        _waited(session, rule, NOW, 0, 1)  # 80 %
    _sweep(make_session)
    _sweep(make_session)
    mails = _mails(make_session)
    assert {mail.path for mail in mails} == {
        f"/rules/{rule}",
        "/lanes/executions#budget",
    }
    for mail in mails:
        assert "nearly used up" in mail.subject
        assert "4 of 100" in mail.body
    with make_session() as session:
        assert session.get_one(RuleBudget, rule).warned_at == NOW
        assert session.get_one(LaneBudget, "executions").warned_at == NOW
        assert [each.is_broken for each in endangered(session)] == [False, False]
    _sweep(make_session, NOW + timedelta(days=8) + QUIET_FOR)
    with make_session() as session:
        assert session.get_one(RuleBudget, rule).warned_at is None


def test_the_first_page_warns_no_longer_than_it_is_so(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        _waited(session, rule, NOW, 90, 10)
    _sweep(make_session)
    names = ["Welcome", "executions"]
    with make_session() as session:
        assert [each.name for each in endangered(session)] == names
        assert all(each.is_broken for each in endangered(session))
    with make_session.begin() as session:
        _waited(session, rule, NOW, 900, 0)
    _sweep(make_session, NOW + EVERY)
    with make_session() as session:
        assert endangered(session) == []
        assert session.get_one(RuleBudget, rule).warned_at == NOW, "told long enough"
    with make_session.begin() as session:
        _waited(session, rule, NOW, 0, 200)
    _sweep(make_session, NOW + 2 * EVERY)
    with make_session.begin() as session:
        assert [each.name for each in endangered(session)] == names
        set_rule_budget(session, rule, Promise(900, 300), ANNA, now=NOW)
        assert [each.name for each in endangered(session)] == names[1:]


def test_admins_are_told_once_more_when_it_breaks(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        operator(session, "ada@example.org", "admin")
        _waited(session, rule, NOW, 96, 4)
    _sweep(make_session)
    with make_session.begin() as session:
        _waited(session, rule, NOW, 0, 3)
    _sweep(make_session, NOW + BETWEEN / 2)
    assert len(_mails(make_session)) == 2, "not so soon after the warning"
    for at in (BETWEEN, BETWEEN + QUIET_FOR, 3 * QUIET_FOR):
        _sweep(make_session, NOW + at)
    told = [mail.subject for mail in _mails(make_session)]
    assert sum("more often than promised" in subject for subject in told) == 2
    assert len(told) == 4
    with make_session.begin() as session:
        _waited(session, rule, NOW + 3 * QUIET_FOR, 900, 0)
    _sweep(make_session, NOW + 4 * QUIET_FOR)
    with make_session() as session:
        budget = session.get_one(RuleBudget, rule)
        assert (budget.warned_at, budget.broken_at) == (None, None)


def test_what_breaks_at_once_is_told_once(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        operator(session, "ada@example.org", "admin")
        own = session.get_one(Rule, rule).congregation_id
        one = operator(session, "one@example.org", "admin", sees_all=False)
        session.execute(
            operator_congregations.insert(),
            {"operator_id": one.id, "congregation_id": own},
        )
        _waited(session, rule, NOW, 50, 50)
    for at in (timedelta(0), BETWEEN):
        _sweep(make_session, NOW + at)
    told = {(mail.address, mail.path.split("/")[1]) for mail in _mails(make_session)}
    assert told == {
        ("ada@example.org", "rules"),
        ("ada@example.org", "lanes"),
        ("one@example.org", "rules"),
    }
    assert len(_mails(make_session)) == 3


def test_without_mails_it_is_marked_and_nobody_is_told(
    make_session: Sessions,
) -> None:
    silent = Promise(950, 60, by_mail=False)
    with make_session.begin() as session:
        operator(session, "ada@example.org", "admin")
        rule = factories.rule(session, factories.congregation(session)).id
        set_rule_budget(session, rule, silent, ANNA, now=NOW)
        set_lane_budget(session, "executions", "Executions", silent, ANNA, now=NOW)
        _waited(session, rule, NOW, 50, 50)
    for at in (timedelta(0), BETWEEN):
        _sweep(make_session, NOW + at)
    assert _mails(make_session) == []
    with make_session.begin() as session:
        for budget in (
            session.get_one(RuleBudget, rule),
            session.get_one(LaneBudget, "executions"),
        ):
            assert (budget.warned_at, budget.broken_at) == (NOW, NOW)
        said = session.scalars(select(AuditEntry.summary)).all()
        assert sum("seconds, without mails" in summary for summary in said) == 2
        set_rule_budget(session, rule, MINUTE, ANNA, now=NOW + BETWEEN)
    _sweep(make_session, NOW + BETWEEN)
    assert [mail.path for mail in _mails(make_session)] == [f"/rules/{rule}"]


def test_another_promise_breaks_anew(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        operator(session, "ada@example.org", "admin")
        _waited(session, rule, NOW, 88, 12)
    _sweep(make_session)
    with make_session.begin() as session:
        set_rule_budget(session, rule, Promise(900, 60), ANNA, now=NOW)
        set_lane_budget(session, "executions", "Executions", None, ANNA, now=NOW)
        _waited(session, rule, NOW, 34, 0)  # 12 of 134: 90 % of it
    _sweep(make_session, NOW + BETWEEN)
    with make_session.begin() as session:
        _waited(session, rule, NOW, 0, 6)
    _sweep(make_session, NOW + 2 * BETWEEN)
    told = [m.subject for m in _mails(make_session) if m.path == f"/rules/{rule}"]
    assert ["more often than promised" in each for each in told] == [True, False, True]


def test_of_deleted_rules_nobody_is_told(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        operator(session, "ada@example.org", "admin")
        _waited(session, rule, NOW, 0, 100)
        session.get_one(Rule, rule).deleted_at = NOW
    _sweep(make_session)
    assert [mail.path for mail in _mails(make_session)] == ["/lanes/executions#budget"]


def test_every_budget_is_looked_at(make_session: Sessions) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        for n in range(LOOKED_MAX + 1):
            rule = factories.rule(session, tenant, name=f"Rule {n}").id
            set_rule_budget(session, rule, MINUTE, ANNA, now=NOW)
            _waited(session, rule, NOW, 0, 20)
    with make_session.begin() as session:
        assert look_at_budgets(session, NOW) == LOOKED_MAX + 1


def test_a_day_is_the_day_that_charts_show(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        for hours in (0, 23, 24):
            _waited(session, rule, NOW - timedelta(hours=hours), 10, 0)
        budget = session.get_one(RuleBudget, rule)
        day, _ = burns(session, [budget], NOW)[rule]
        shown = series.of_rule(session, rule, PERIODS["24h"], NOW).whole
        assert day.n == shown.n_timed(Measure.WAIT) == 20


def test_a_few_late_ones_alarm_nobody(make_session: Sessions) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        _waited(session, rule, NOW, 1, 2)
    _sweep(make_session)
    with make_session() as session:
        assert session.get_one(RuleBudget, rule).warned_at is None


def test_a_budget_can_be_changed_and_taken_away_on_record(
    make_session: Sessions,
) -> None:
    rule = _rule(make_session)
    with make_session.begin() as session:
        set_rule_budget(session, rule, Promise(999, 5), ANNA, now=NOW)
        assert session.get_one(RuleBudget, rule).per_mille == 999
        set_rule_budget(session, rule, None, ANNA, now=NOW)
        set_rule_budget(session, rule, None, ANNA, now=NOW)
        set_lane_budget(session, "executions", "Executions", None, ANNA, now=NOW)
        assert session.get(RuleBudget, rule) is None
        said = session.scalars(select(AuditEntry.summary)).all()
        assert "Set the lateness budget of the rule “Welcome”: 99.9 %" in str(said)
        for wrong in (Promise(950, 7), Promise(1_000, 60)):
            with pytest.raises(InvalidInput):
                set_rule_budget(session, rule, wrong, ANNA, now=NOW)
        with pytest.raises(NotFound):
            set_rule_budget(session, UUID(int=1), MINUTE, ANNA, now=NOW)


def _mails(make_session: Sessions) -> list[AdminMail]:
    with make_session() as session:
        return list(session.scalars(select(AdminMail)))
