"""What the rules' pages read: few queries, whatever the number of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    ScalarSelect,
    Select,
    Subquery,
    Uuid,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from dashboard.rules.scope import RuleScope
from tasks.errors import NotFound
from tasks.models import (
    Congregation,
    Execution,
    FailedExecution,
    FailureGroup,
    Podcast,
    Rule,
    RulePodcast,
)
from tasks.models.base import born_from
from tasks.saying import say

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
#: By name.
KEYS: Final[tuple[Key, ...]] = (Rule.name, Rule.id)
#: Executions of one rule that are counted; that many means "or more".
COUNTED_MAX: Final = 1_000
#: More than can be counted besides.
_OF_DAY: Final = COUNTED_MAX + 1


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Which rules to list; what is empty does not count."""

    scope: RuleScope | None = None
    trigger_type: str = ""
    action: str = ""
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule as a list shows it."""

    rule: Rule
    congregation: str
    podcasts: Sequence[str]  # titles, by name; empty: every podcast
    last_fired_at: datetime | None


@dataclass(frozen=True, slots=True)
class Counts:
    """How often a rule fired lately."""

    day: int = 0
    week: int = 0
    failed: int = 0  # of the week's, and not queued again


def selected(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[Rule, str, datetime | None]:
    """Select rules with what a list shows of them; deleted ones are left out."""
    return _with_names().where(Rule.deleted_at.is_(None), *wanted)


def rules(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[RuleRow]:
    """Return a page of the rules by name."""
    page = paginate(session, selected(wanted), KEYS, cursor, limit)
    rows = _rows(session, page.rows)
    return Page(rows, page.next_cursor, page.previous_cursor)


def rule(session: Session, rule_id: UUID) -> RuleRow:
    """Return one rule, also a deleted one: its history stays readable.

    Raises:
        NotFound: the session sees no such rule.
    """
    found = session.execute(_with_names().where(Rule.id == rule_id)).one_or_none()
    if found is None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    return _rows(session, [found])[0]


def living(session: Session, rule_id: UUID) -> Rule:
    """Return a rule that can still be changed.

    Raises:
        NotFound: the session sees none, or it was deleted.
    """
    found = session.get(Rule, rule_id)
    if found is None or found.deleted_at is not None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    return found


def failed_query() -> str:
    """Return the search of executions that finds what ``Counts.failed`` counts."""
    return "state:failed state:quarantined"


def _fired() -> ScalarSelect[int]:
    """Return in one number how many executions a rule has, to be taken apart.

    Each of the last day adds ``_OF_DAY``, each other of the week one: so the rows of a
    busy rule are gone through once.
    """
    ids = (
        select(Execution.id)
        .where(
            Execution.rule_id == Rule.id,
            Execution.id >= bindparam("week", type_=Uuid),
        )
        .order_by(Execution.id.desc())
    )
    some = _some(ids)
    is_of_day = some.c.id >= bindparam("day", type_=Uuid)
    fired = func.sum(case((is_of_day, _OF_DAY), else_=1))
    return select(func.coalesce(fired, 0)).scalar_subquery()


def _failed() -> ScalarSelect[int]:
    """Count those that failed, and were not queued again; they are few, and apart."""
    ids = (
        select(FailedExecution.execution_id)
        .join(FailureGroup, FailureGroup.id == FailedExecution.group_id)
        .where(
            FailureGroup.rule_id == Rule.id,
            FailedExecution.retried_at.is_(None),
            FailedExecution.execution_id >= bindparam("week", type_=Uuid),
        )
    )
    return select(func.count()).select_from(_some(ids)).scalar_subquery()


def _some(ids: Select[UUID]) -> Subquery:
    limit = literal_column(str(COUNTED_MAX), Integer)
    return ids.limit(limit).correlate(Rule).subquery()


#: Made once: with so many parts, making it takes longer than running it.
_COUNTS: Final = select(Rule.id, _fired(), _failed()).where(
    Rule.id.in_(bindparam("ids", expanding=True))
)


def counts(
    session: Session, ids: Sequence[UUID], now: datetime
) -> Mapping[UUID, Counts]:
    """Return how often each rule fired in the last day and week; never: no key.

    Of each rule ``COUNTED_MAX`` are counted at most, by index alone, so a busy rule
    costs no more than any other; a number that reaches it means "or more".
    """
    sets = {"ids": ids, "day": born_from(now - DAY), "week": born_from(now - WEEK)}
    found = {}
    for rule_id, fired, failed in session.execute(_COUNTS, sets):
        day, others = divmod(int(fired), _OF_DAY)
        if fired or failed:
            found[rule_id] = Counts(day, day + others, failed)
    return found


def _rows(
    session: Session, found: Sequence[Row[Rule, str, datetime | None]]
) -> list[RuleRow]:
    """Return the rules as a list shows them, with the podcasts that they belong to."""
    titles: dict[UUID, list[str]] = defaultdict(list)
    named = session.execute(
        select(RulePodcast.rule_id, Podcast.title)
        .join(
            Podcast,
            and_(
                Podcast.congregation_id == RulePodcast.congregation_id,
                Podcast.id == RulePodcast.podcast_id,
            ),
        )
        .where(RulePodcast.rule_id.in_([rule.id for rule, *_ in found]))
        .order_by(Podcast.title, Podcast.id)
    )
    for rule_id, title in named:
        titles[rule_id].append(title)
    return [
        RuleRow(rule, congregation, titles[rule.id], last_fired_at)
        for rule, congregation, last_fired_at in found
    ]


def _with_names() -> Select[Rule, str, datetime | None]:
    last_fired = (
        select(Execution.created_at)
        .where(Execution.rule_id == Rule.id)
        .order_by(Execution.id.desc())
        .limit(1)
        .correlate(Rule)
        .scalar_subquery()
    )
    return select(Rule, Congregation.name, last_fired).join(
        Congregation, Congregation.id == Rule.congregation_id
    )


def conditions(wanted: RuleFilter) -> Iterator[ColumnElement[bool]]:
    """Yield what a filter asks of each rule."""
    if wanted.scope is not None:
        yield Rule.congregation_id == wanted.scope.congregation_id
        if wanted.scope.podcast_id is not None:
            # The rules of every podcast apply to this one, too.
            own = select(RulePodcast.rule_id).where(
                RulePodcast.congregation_id == wanted.scope.congregation_id,
                RulePodcast.podcast_id == wanted.scope.podcast_id,
            )
            yield or_(Rule.id.in_(own), Rule.podcast_ids.is_(None))
    if wanted.trigger_type:
        yield Rule.trigger_type == wanted.trigger_type
    if wanted.action:
        yield Rule.action == wanted.action
    if wanted.enabled is not None:
        yield Rule.enabled == wanted.enabled
