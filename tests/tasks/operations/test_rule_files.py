"""Rules written to a file come back the same, and no bad file changes anything."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.db import Begin
from tasks.errors import Conflict
from tasks.models import LatePolicy, OffsetUnit, Podcast, Replan, Rule, RuleVersion
from tasks.operations.audit import Actor
from tasks.operations.rule_documents import change_of, document_of
from tasks.operations.rule_files import (
    FILE_MAX,
    RULES_MAX,
    InvalidFile,
    read_file,
    write_file,
)
from tasks.operations.rule_imports import Import, carry_out_import, plan_import
from tasks.operations.rule_steps import StepChange
from tasks.operations.rules import RuleChange, RuleSaved, create_rule, edit_rule
from tasks.secrets import SecretBox
from tests.support import factories
from tests.support.factories import NOW
from tests.support.processes import ROOT

ACTOR = Actor("ada@example.org")
BOX = SecretBox("0123456789abcdef0123456789abcdef")
MAIL = {
    "recipient": "guest",
    "subject": "Hello {{ guest.name | default: 'there' }}",
    "text": "See you.\n\n  Bring 08:30: a # pen\nBye 🎙\n",
    "html": "",
}
WELCOME = RuleChange("Welcome: “yes” # no", "booking.confirmed", "email", MAIL)
REMINDER = RuleChange(
    "2026",
    "time.before_recording",
    "email",
    {**MAIL, "recipient": "fixed", "address": "a@example.org", "text": "Soon"},
    podcast_ids=("other", "show"),
    offset_value=2,
    offset_unit=OffsetUnit.DAYS,
    offset_at="08:30",
    late_policy=LatePolicy.SEND_NOW,
    quiet_from="22:00",
    quiet_until="07:00",
    conditions={
        "match": "any",
        "rows": [{"field": "guest.email", "operator": "not_empty"}],
    },
    max_attempts=3,
    rate_limit=10,
    steps=(StepChange("email", 60, {**MAIL, "subject": "Later"}),),
)
HOOK = RuleChange(
    "Hook", "episode.published", "webhook", {"url": "https://a.example/x"}
)
ALL = (WELCOME, REMINDER, HOOK)


def house(session: Session, slug: str = "bonifatius") -> UUID:
    tenant = factories.congregation(session, slug)
    session.add(Podcast(congregation_id=tenant, id="other", title="Other"))
    session.flush()
    return tenant


def create(session: Session, of: UUID, change: RuleChange) -> Rule:
    return create_rule(session, of, change, ACTOR, BOX, now=NOW).rule


def planned(session: Session, of: UUID, text: str) -> Import:
    return plan_import(session, of, read_file(text.encode()), BOX)


def take(
    session: Session, of: UUID, text: str, *, switch_on: bool = False
) -> list[RuleSaved]:
    found = planned(session, of, text)
    return carry_out_import(
        session,
        found,
        ACTOR,
        BOX,
        now=NOW,
        seen=found.fingerprint,
        switch_on=switch_on,
    )


def rules_of(session: Session, of: UUID) -> list[Rule]:
    found = select(Rule).where(Rule.congregation_id == of).order_by(Rule.name)
    return list(session.scalars(found))


def documents(rules: list[Rule]) -> list[dict[str, Any]]:
    return sorted(map(document_of, rules), key=lambda each: str(each["name"]))


def test_rules_come_back_the_same_in_another_congregation(begin: Begin) -> None:
    with begin() as session:
        of, there = house(session), house(session, "there")
        text = write_file([create(session, of, change) for change in ALL])
        saved = take(session, there, text)
        assert len(saved) == len(ALL)
        assert documents(rules_of(session, there)) == documents(rules_of(session, of))
        assert not any(rule.enabled for rule in rules_of(session, there))
        assert [bool(each.secret) for each in saved] == [False, False, True]
        ids = {rule.id for rule in rules_of(session, of)}
        assert not ids & {rule.id for rule in rules_of(session, there)}


def test_a_document_says_all_that_a_change_says(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        for change in ALL:
            said = change_of(document_of(create(session, of, change)))
            numbered = tuple(
                replace(step, number=n) for n, step in enumerate(change.steps, 1)
            )
            assert said == replace(change, name=change.name.strip(), steps=numbered)


def test_a_file_leaves_out_what_is_usual_and_every_secret(begin: Begin) -> None:
    with begin() as session:
        rule = create(session, house(session), HOOK)
        text = write_file([rule])
        assert "max_attempts" not in text
        assert "whsec_" not in text
        assert str(rule.secret) not in text
        assert text.splitlines()[1:4] == [
            "carillon: rules/1",
            "rules:",
            f"- id: {rule.id}",
        ]


def test_the_same_file_again_changes_nothing(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        text = write_file([create(session, of, change) for change in ALL])
        assert {each.verb for each in planned(session, of, text).arrivals} == {"same"}
        assert take(session, of, text) == []
        assert {rule.version for rule in rules_of(session, of)} == {1}


def test_a_rule_is_found_by_its_id_else_by_its_name(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        rule = create(session, of, WELCOME)
        text = write_file([rule])
        (renamed,) = take(session, of, text.replace("Welcome", "Greeting"))
        assert (renamed.rule.id, renamed.rule.version) == (rule.id, 2)
        other = text.replace(str(rule.id), str(UUID(int=5))).replace(
            "Welcome", "Greeting"
        )
        (changed,) = take(session, of, other.replace("See you", "Until then"))
        assert (changed.rule.id, changed.rule.version) == (rule.id, 3)
        versions = session.scalars(
            select(RuleVersion.verb).order_by(RuleVersion.version)
        )
        assert list(versions) == ["created", "imported", "imported"]
        assert changed.rule.enabled  # it was on, and stays so


def test_two_rules_of_one_name_are_not_guessed_among(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        text = write_file([create(session, of, WELCOME)])
        create(session, of, WELCOME)
        (arrival,) = planned(session, of, text.replace("- id:", "- #")).arrivals
        assert arrival.verb == "create"


def test_new_rules_are_switched_on_only_when_asked(begin: Begin) -> None:
    with begin() as session:
        of, there = house(session), house(session, "there")
        on, off = create(session, of, WELCOME), create(session, of, HOOK)
        off.enabled = False
        take(session, there, write_file([on, off]), switch_on=True)
        assert [rule.enabled for rule in rules_of(session, there)] == [False, True]


def test_what_was_changed_meanwhile_is_not_overwritten(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        rule = create(session, of, WELCOME)
        text = write_file([rule]).replace("See you", "Until then")
        seen = planned(session, of, text).fingerprint
        edit_rule(session, rule.id, replace(WELCOME, name="B"), ACTOR, BOX, now=NOW)
        now_planned = planned(session, of, text)
        with pytest.raises(Conflict, match="changed meanwhile"):
            carry_out_import(session, now_planned, ACTOR, BOX, now=NOW, seen=seen)
        assert rules_of(session, of)[0].version == 2


def test_the_jobs_of_imported_rules_are_left_to_the_lane(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        factories.booking(session, of, start_time=NOW + timedelta(days=5))
        soon = replace(REMINDER, conditions={}, steps=(), offset_at=None)
        rule = create_rule(
            session, of, soon, ACTOR, BOX, now=NOW, also_coming=True
        ).rule
        text = write_file([rule]).replace("offset_value: 2", "offset_value: 1")
        (saved,) = take(session, of, text)
        assert saved.replanned.is_later
        assert session.get(Replan, rule.id) is not None


HEAD = "carillon: rules/1\nrules:\n"
GOOD = (
    "- name: A\n  trigger_type: booking.confirmed\n  action: webhook\n"
    "  settings: {url: 'https://a.example/x'}\n"
)


def changed(line: str, to: str) -> str:
    return HEAD + GOOD.replace(line, to)


@pytest.mark.parametrize(
    ("text", "line", "path", "says"),
    [
        ("", 1, "", "must begin with"),
        ("- a", 1, "", "must begin with"),
        ("carillon: rules/9\nrules: []", 1, "", "must begin with"),
        ("carillon: rules/1\nrules: []", 2, "rules", "at least one"),
        ("carillon: rules/1\nrules: {a: 1}", 2, "rules", "at least one"),
        (HEAD + GOOD + "extra: 1", 7, "extra", "only “carillon”"),
        (HEAD + "- 5", 3, "rules[0]", "names with values, not “5”"),
        (HEAD + "- name: A", 3, "rules[0]", "“trigger_type” is missing"),
        (changed("name: A", "name: [A]"), 3, "rules[0].name", "must be a text"),
        (changed("name: A", "name: 7"), 3, "rules[0].name", "put it in quotes"),
        (changed("name: A", "nmae: A"), 3, "rules[0].nmae", "There is no “nmae”"),
        (changed("name: A", "id: 7\n  name: A"), 3, "rules[0].id", "no id"),
        (changed("name: A", "enabled: 7\n  name: A"), 3, "rules[0].enabled", "true or"),
        (HEAD + GOOD + "  offset_value: a", 7, "rules[0].offset_value", "whole number"),
        (HEAD + GOOD + "  offset_unit: years", 7, "rules[0].offset_unit", "one of"),
        (HEAD + GOOD + "  podcast_ids: show", 7, "rules[0].podcast_ids", "a list"),
        (HEAD + GOOD + "  podcast_ids: [1]", 7, "rules[0].podcast_ids[0]", "a text"),
        (HEAD + GOOD + "  steps: [{delay: x}]", 7, "rules[0].steps[0].delay", "whole"),
        (HEAD + GOOD + "  conditions: 3", 7, "rules[0].conditions", "names with"),
        (HEAD + GOOD.replace("'https", "&a 'https"), 6, "", "aliases"),
        (HEAD + GOOD + GOOD[:-2], 11, "", "no YAML"),
    ],
)
def test_a_bad_file_says_what_is_wrong_and_where(
    text: str, line: int, path: str, says: str
) -> None:
    with pytest.raises(InvalidFile) as refused:
        read_file(text.encode())
    found = [problem for problem in refused.value.problems if says in problem.sentence]
    assert [(problem.line, problem.path) for problem in found] == [(line, path)]


@pytest.mark.parametrize(
    ("text", "line", "path", "says"),
    [
        (changed("confirmed", "exploded"), 4, "rules[0].trigger_type", "what starts"),
        (changed("webhook", "fax"), 5, "rules[0].action", "what the rule does"),
        (changed("https://a", "ftp://a"), 6, "rules[0].settings.url", "http"),
        (HEAD + GOOD + "  max_attempts: 99", 7, "rules[0].max_attempts", "1 to 20"),
        (
            HEAD + GOOD + "  podcast_ids: [x]",
            7,
            "rules[0].podcast_ids",
            "no podcast “x”",
        ),
        (HEAD + GOOD + "  podcast_ids: []", 7, "rules[0].podcast_ids", "at least one"),
        (
            HEAD + GOOD + "  steps:\n  - {action: fax, delay: 5}",
            8,
            "rules[0].steps[0].action",
            "what the step does",
        ),
    ],
)
def test_what_a_congregation_cannot_take_is_named_by_line(
    begin: Begin, text: str, line: int, path: str, says: str
) -> None:
    with begin() as session:
        of = house(session)
        with pytest.raises(InvalidFile) as refused:
            planned(session, of, text)
        assert rules_of(session, of) == []
    found = [problem for problem in refused.value.problems if says in problem.sentence]
    assert [(problem.line, problem.path) for problem in found] == [(line, path)]


def test_the_example_of_the_docs_is_one(begin: Begin) -> None:
    text = (ROOT / "docs/rules.md").read_text()
    example = text.partition("```yaml\n")[2].partition("```")[0]
    with begin() as session:
        (arrival,) = planned(session, house(session), example).arrivals
        assert (arrival.verb, arrival.saved.name) == ("create", "Reminder")


def test_all_mistakes_are_told_at_once_in_their_order() -> None:
    text = HEAD + "- name: 7\n  action: [x]\n  nmae: B\n- 3\n"
    with pytest.raises(InvalidFile) as refused:
        read_file(text.encode())
    lines = [problem.line for problem in refused.value.problems]
    assert lines == sorted(lines)
    assert len(lines) == 5


def test_one_rule_meant_twice_is_refused(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        rule = create(session, of, WELCOME)
        with pytest.raises(InvalidFile, match="the same rule as line 4"):
            planned(session, of, write_file([rule, rule]))


def test_a_file_has_limits() -> None:
    with pytest.raises(InvalidFile, match="at most 1 MB"):
        read_file(b"#" * (FILE_MAX + 1))
    with pytest.raises(InvalidFile, match=f"at most {RULES_MAX} rules"):
        read_file((HEAD + "- {}\n" * (RULES_MAX + 1)).encode())
    with pytest.raises(InvalidFile, match="Line 2: This is no UTF-8"):
        read_file(b"a: 1\nb: \xff\xfe")


def test_a_file_of_the_largest_size_is_read_in_time() -> None:
    with pytest.raises(InvalidFile):
        read_file(b"- [a, b, c, {d: e}]\n" * (FILE_MAX // 20))
