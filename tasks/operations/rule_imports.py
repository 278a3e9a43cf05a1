"""A file of rules brought into a congregation: first planned, then carried out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.replan import as_if
from tasks.errors import Conflict
from tasks.models import Rule
from tasks.operations.audit import Actor
from tasks.operations.rule_fields import InvalidRule
from tasks.operations.rule_files import (
    PROBLEMS_MAX,
    Entry,
    InvalidFile,
    Problem,
    RulesFile,
    path_of,
)
from tasks.operations.rule_meant import LivingRules, numbered
from tasks.operations.rule_rows import RuleSaved
from tasks.operations.rule_secrets import put_away
from tasks.operations.rule_values import moves_jobs, values_of
from tasks.operations.rules import create_rule, edit_rule
from tasks.saying import say
from tasks.secrets import SecretBox


@dataclass(frozen=True, slots=True)
class Arrival:
    """What one rule of a file would do."""

    verb: Literal["create", "change", "same"]
    entry: Entry
    rule: Rule | None  # that is there already; None: it is made
    saved: Rule  # as it would be saved; no session knows it
    moves: bool  # whether the jobs that are planned move


@dataclass(frozen=True, slots=True)
class Import:
    """What a file would do to a congregation."""

    congregation_id: UUID
    arrivals: tuple[Arrival, ...]

    @property
    def fingerprint(self) -> str:
        """A text that is another one when something was changed meanwhile."""
        seen = [
            (each.verb, str(each.rule.id), each.rule.version)
            if each.rule
            else each.verb
            for each in self.arrivals
        ]
        return hashlib.sha256(repr(seen).encode()).hexdigest()


def plan_import(
    session: Session, congregation_id: UUID, file: RulesFile, box: SecretBox
) -> Import:
    """Return what a file would do; writes nothing.

    A rule of the file changes the one with its id, else the only one with its name;
    where neither is there it is new.

    Raises:
        InvalidFile: the congregation cannot take it; with everything that is wrong.
    """
    there = LivingRules(session, congregation_id)
    problems: list[Problem] = []
    arrivals: list[Arrival] = []
    met: dict[UUID, Entry] = {}
    for said in file.entries:
        rule = there.meant(said)
        entry = said if rule is None else numbered(said, rule)
        if rule is not None and rule.id in met:
            first = file.problem(met[rule.id].path, "").line
            sentence = say("This means the same rule as line %(n)s.", n=str(first))
            problems.append(file.problem(entry.path, sentence))
        elif rule is not None:
            met[rule.id] = entry
        try:
            values = values_of(session, congregation_id, entry.change)
            put_away(values, rule, box)
            arrivals.append(_arrival(entry, rule, values))
        except InvalidRule as refused:
            problems += [
                file.problem(path_of(entry, name), sentence)
                for name, sentence in refused.problems.items()
            ]
    if problems:
        raise InvalidFile(problems[:PROBLEMS_MAX])
    return Import(congregation_id, tuple(arrivals))


def carry_out_import(
    session: Session,
    planned: Import,
    actor: Actor,
    box: SecretBox,
    *,
    now: datetime,
    seen: str,
    switch_on: bool = False,
) -> list[RuleSaved]:
    """Make and change the rules of a file; what is the same already is left alone.

    Args:
        seen: the fingerprint of what the operator looked at.
        switch_on: switch new rules on that the file says are on; else all are off.

    Raises:
        Conflict: ``changed_meanwhile``, the rules are others by now.
    """
    if seen != planned.fingerprint:
        raise Conflict(
            "changed_meanwhile",
            say(
                "Rules were changed meanwhile, so this file would do something else "
                "now."
            ),
        )
    return [
        _save(session, planned, each, actor, box, now=now, switch_on=switch_on)
        for each in planned.arrivals
        if each.verb != "same"
    ]


def _save(
    session: Session,
    planned: Import,
    arrival: Arrival,
    actor: Actor,
    box: SecretBox,
    *,
    now: datetime,
    switch_on: bool,
) -> RuleSaved:
    change, rule = arrival.entry.change, arrival.rule
    if rule is not None:
        return edit_rule(
            session,
            rule.id,
            change,
            actor,
            box,
            now=now,
            version=rule.version,
            at_once=False,  # a file may change hundreds of rules
            verb="imported",
        )
    return create_rule(
        session,
        planned.congregation_id,
        change,
        actor,
        box,
        now=now,
        enabled=switch_on and arrival.entry.enabled,
        verb="imported",
    )


def _arrival(entry: Entry, rule: Rule | None, values: dict[str, Any]) -> Arrival:
    if rule is None:
        return Arrival("create", entry, None, Rule(**values), moves=False)
    before = {name: getattr(rule, name) for name in values}
    verb: Literal["same", "change"] = "same" if before == values else "change"
    moves = moves_jobs(before, values)
    return Arrival(verb, entry, rule, as_if(rule, **values), moves=moves)
