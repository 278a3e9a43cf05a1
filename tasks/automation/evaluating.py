"""What every rule makes of new events: executions, and a decision for each rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from sqlalchemy import Select, bindparam, select, tuple_
from sqlalchemy.orm import Session

from tasks.automation import decisions, loops
from tasks.automation.cases import Case, why_unmet, without_loops
from tasks.automation.context import context_of
from tasks.automation.decisions import OUT_OF_SCOPE_MAX, Verdict, verdict
from tasks.automation.executions import NewExecution, insert_executions
from tasks.automation.keys import event_key
from tasks.automation.payloads import Report
from tasks.automation.quiet import clocks_of, opening
from tasks.automation.recipients import recipient_of
from tasks.automation.records import Records, chunks, full_ids
from tasks.automation.steps import follow_up
from tasks.bulk import is_postgres
from tasks.lookups import among_keys, is_among_keys, packed
from tasks.models.base import new_id
from tasks.models.event import DecisionOutcome
from tasks.models.execution import Execution
from tasks.models.reason import Reason
from tasks.models.rule import Rule


@dataclass(slots=True)
class Evaluated:
    """What came of one event."""

    fired: list[UUID] = field(default_factory=list)  # rules that got an execution
    n_duplicates: int = 0  # rules that had acted on the same before


def evaluate(
    session: Session, reports: Sequence[Report], records: Records, now: datetime
) -> dict[UUID, Evaluated]:
    """Evaluate new events, all at once; returns what came of each, by its id."""
    if not reports:
        return {}
    rules = _rules(session, reports)
    cases = [case for report in reports for case in _cases(report, rules, records, now)]
    cases = without_loops(session, cases, now)
    executions = [case.execution for case in cases if case.execution]
    born = insert_executions(session, executions)
    follow_up(session, _fired(cases, born), now)
    firsts = _firsts(session, [each for each in executions if each.id not in born])
    decisions.record(session, [_verdict(case, born, firsts) for case in cases], now)
    evaluated = {report.id: Evaluated() for report in reports}
    for case in cases:
        if case.execution and case.execution.id in born:
            evaluated[case.report.id].fired.append(case.rule.id)
        elif case.execution:
            evaluated[case.report.id].n_duplicates += 1
    return evaluated


_OF_RULES: Final = (Rule.congregation_id, Rule.trigger_type)


@lru_cache  # making a statement takes longer than running this one
def _rules_of_types(is_for_postgres: bool) -> Select[Rule]:  # a key of the cache
    is_meant = (
        tuple_(*_OF_RULES).in_(bindparam("wanted", expanding=True))
        if is_for_postgres
        else is_among_keys(_OF_RULES, "wanted")
    )
    return select(Rule).where(is_meant, Rule.deleted_at.is_(None)).order_by(Rule.id)


#: The same for one type: most producers report one event, or many of one kind.
_RULES_OF_TYPE: Final = (
    select(Rule)
    .where(
        Rule.congregation_id == bindparam("congregation_id"),
        Rule.trigger_type == bindparam("trigger_type"),
        Rule.deleted_at.is_(None),
    )
    .order_by(Rule.id)
)

_Rules = Mapping[tuple[UUID, str], Sequence[Rule]]


def _rules(session: Session, reports: Sequence[Report]) -> _Rules:
    wanted = sorted({(each.congregation_id, each.trigger_type) for each in reports})
    if len(wanted) == 1:
        names = ("congregation_id", "trigger_type")
        given = dict(zip(names, wanted[0], strict=True))
        return {wanted[0]: session.scalars(_RULES_OF_TYPE, given).all()}
    return _rules_of_many(session, wanted)


def _rules_of_many(session: Session, wanted: Sequence[tuple[UUID, str]]) -> _Rules:
    found: dict[tuple[UUID, str], list[Rule]] = defaultdict(list)
    takes_pairs = is_postgres(session)
    for chunk in chunks(wanted):
        given = {"wanted": chunk if takes_pairs else packed(_OF_RULES, chunk)}
        for rule in session.scalars(_rules_of_types(takes_pairs), given):
            found[rule.congregation_id, rule.trigger_type].append(rule)
    return found


def _cases(
    report: Report, rules: _Rules, records: Records, now: datetime
) -> Iterator[Case]:
    n_out_of_scope = 0
    context = None
    for rule in rules.get((report.congregation_id, report.trigger_type), ()):
        reason = _why_not(rule, report)
        if reason is not None:
            n_out_of_scope += reason is Reason.OUT_OF_SCOPE
            if reason is not Reason.OUT_OF_SCOPE or n_out_of_scope <= OUT_OF_SCOPE_MAX:
                yield Case(report, rule, reason)
            continue
        context = context or context_of(report, records, report.extra)
        if (detail := why_unmet(rule, report, context, now)) is not None:
            yield Case(report, rule, Reason.CONDITION_FALSE, detail=detail)
            continue
        execution = _execution(report, rule, records, context, now)
        yield Case(report, rule, execution=execution)


def _fired(
    cases: Sequence[Case], born: set[UUID]
) -> Iterator[tuple[Rule, NewExecution]]:
    for case in cases:
        if case.execution and case.execution.id in born:
            yield case.rule, case.execution


def _why_not(rule: Rule, report: Report) -> Reason | None:
    if not rule.covers(report.podcast_id):
        return Reason.OUT_OF_SCOPE
    if not rule.enabled:
        return Reason.RULE_DISABLED
    return Reason.LOOP_GUARD if loops.is_too_deep(report) else None


def _execution(
    report: Report,
    rule: Rule,
    records: Records,
    context: dict[str, object],
    now: datetime,
) -> NewExecution:
    ids = full_ids(report, records)
    on = report.occurred_at.astimezone(UTC).date()
    return NewExecution(
        id=new_id(now),
        congregation_id=report.congregation_id,
        rule_id=rule.id,
        rule_version=rule.version,
        event_id=report.id,
        trigger_type=report.trigger_type,
        action=rule.action,
        podcast_id=ids.podcast_id,
        episode_id=ids.episode_id,
        booking_id=ids.booking_id,
        guest_id=ids.guest_id,
        recipient=recipient_of(rule, context),
        idempotency_key=event_key(
            rule.id, report.trigger_type, ids, on, report.external_id
        ),
        due_at=now,
        run_at=opening(rule, now, clocks_of(report, records))
        if rule.quiet_from
        else None,
        max_attempts=rule.max_attempts,
        context=context,
        created_at=now,
    )


def _firsts(
    session: Session, repeated: Iterable[NewExecution]
) -> dict[tuple[UUID, str], UUID]:
    keys = sorted({(each.congregation_id, each.idempotency_key) for each in repeated})
    found: dict[tuple[UUID, str], UUID] = {}
    for chunk in chunks(keys):
        columns = (Execution.congregation_id, Execution.idempotency_key)
        rows = session.execute(
            select(*columns, Execution.id).where(among_keys(session, columns, chunk))
        )
        found.update({(of, key): id_ for of, key, id_ in rows})
    return found


def _verdict(
    case: Case, born: set[UUID], firsts: Mapping[tuple[UUID, str], UUID]
) -> Verdict:
    execution, reason = case.execution, case.reason
    execution_id = execution.id if execution else None
    if execution and execution.id not in born:
        reason = Reason.DUPLICATE
        execution_id = firsts.get(
            (execution.congregation_id, execution.idempotency_key)
        )
    return verdict(
        case.rule,
        DecisionOutcome.NO if reason else DecisionOutcome.FIRED,
        event_id=case.report.id,
        reason=reason,
        detail=case.detail,
        execution_id=execution_id,
    )
