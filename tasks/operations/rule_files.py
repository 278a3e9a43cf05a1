"""Rules as a YAML file: written for people, read with every mistake named by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from tasks.errors import InvalidInput
from tasks.models import Rule
from tasks.models.base import Json
from tasks.operations.rule_documents import as_json, document_of
from tasks.operations.rule_fields import RuleChange
from tasks.operations.rule_steps import StepChange
from tasks.operations.typed_reading import Reading, joined
from tasks.operations.yaml_text import InvalidYaml, dump, line_of, load
from tasks.saying import say

#: The largest file that is read, in bytes.
FILE_MAX: Final = 1_048_576
#: Rules that one file may hold.
RULES_MAX: Final = 500
#: Mistakes that are told at once.
PROBLEMS_MAX: Final = 50
#: The first name in a file: what it is, and the number of its form.
FORM: Final = "rules/1"
_HEAD: Final = "# Rules of Carillon. Secrets are not in this file.\n"


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file."""

    line: int  # from 1
    path: str  # such as "rules[0].settings.subject"
    sentence: str


class InvalidFile(InvalidInput):
    """A file of rules is refused; ``problems`` has every mistake, by line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        told = say("Line %(n)s: %(problem)s", n=str(first.line), problem=first.sentence)
        super().__init__("invalid_file", told)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule of a file."""

    change: RuleChange
    id: UUID | None  # of the rule that was written out; None: not said
    enabled: bool
    path: str


@dataclass(frozen=True, slots=True)
class RulesFile:
    """What a file says, and where."""

    entries: tuple[Entry, ...] = ()
    lines: dict[str, int] = field(default_factory=dict)

    def problem(self, path: str, sentence: str) -> Problem:
        """Return a mistake at a path, with its line."""
        return Problem(line_of(self.lines, path), path, sentence)


def write_file(rules: Sequence[Rule]) -> str:
    """Return a file that says what the rules do; what is usual is left out."""
    entries = [
        {"id": str(rule.id), "enabled": rule.enabled, **_said(document_of(rule))}
        for rule in rules
    ]
    return _HEAD + dump({"carillon": FORM, "rules": entries})


def read_file(data: bytes) -> RulesFile:
    """Read a file of rules; whether a congregation can take them is not looked at.

    Raises:
        InvalidFile: with everything that is wrong.
    """
    if len(data) > FILE_MAX:
        sentence = say("A file may have at most 1 MB; split it.")
        raise InvalidFile([Problem(1, "", sentence)])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        sentence = say("This is no UTF-8 text; save the file as UTF-8.")
        raise InvalidFile([Problem(line, "", sentence)]) from error
    try:
        value, lines = load(text)
    except InvalidYaml as error:
        raise InvalidFile([Problem(error.line, "", error.sentence)]) from error
    reading = Reading()
    entries = tuple(_entries(value, reading))
    if reading.problems:
        file = RulesFile(lines=lines)
        found = [file.problem(path, text) for path, text in reading.problems.items()]
        raise InvalidFile(sorted(found, key=_by_line)[:PROBLEMS_MAX])
    return RulesFile(entries, lines)


def path_of(entry: Entry, name: str) -> str:
    """Return where a rule's wrong field stands; ``name`` as in ``InvalidRule``."""
    path, known = entry.path, {each.name for each in fields(RuleChange)}
    if name.startswith("steps."):
        _, place, name = name.split(".", 2)
        path = f"{path}.steps[{place}]"
        known = {each.name for each in fields(StepChange)}
    top = name.partition(".")[0].partition("[")[0]
    return joined(path, name) if top in known else f"{path}.settings.{name}"


def _by_line(problem: Problem) -> tuple[int, str]:
    return problem.line, problem.path


def _said(document: Json) -> Json:
    """Return a document without what every rule says unless it is told otherwise."""
    steps = [_without_usual(StepChange, step) for step in document.get("steps", ())]
    for step in steps:
        step.pop("number", None)  # it counts within one rule only
    return _without_usual(RuleChange, {**document, "steps": steps})


def _without_usual(kind: type, document: Mapping[str, Any]) -> Json:
    usual = _usual_of(kind)
    return {name: v for name, v in document.items() if v != usual.get(name, MISSING)}


@lru_cache  # a file has many rules of the same kind
def _usual_of(kind: type) -> Mapping[str, object]:
    return {each.name: _usual(each) for each in fields(kind)}


def _usual(each: Any) -> object:  # noqa: ANN401  # a dataclass's field of any type
    if each.default_factory is not MISSING:
        return as_json(each.default_factory())
    return MISSING if each.default is MISSING else as_json(each.default)


def _entries(value: object, reading: Reading) -> Iterator[Entry]:
    if not isinstance(value, dict) or value.get("carillon") != FORM:
        reading.problems[""] = say(
            "The file must begin with “%(line)s”.", line=f"carillon: {FORM}"
        )
        return
    for name in value.keys() - {"carillon", "rules"}:
        reading.problems[name] = say("Here only “carillon” and “rules” are known.")
    rules = value.get("rules")
    if not isinstance(rules, list) or not rules:
        reading.problems["rules"] = say("“rules” must be a list of at least one rule.")
        return
    if len(rules) > RULES_MAX:
        reading.problems["rules"] = say(
            "A file may hold at most %(max)s rules.", max=RULES_MAX
        )
        return
    for number, said in enumerate(rules):
        entry = _entry(said, f"rules[{number}]", reading)
        if entry is not None:
            yield entry


def _entry(said: object, path: str, reading: Reading) -> Entry | None:
    if not isinstance(said, dict):
        reading.read(RuleChange, said, path)  # says what is expected
        return None
    said = dict(said)
    id_ = _id(said.pop("id", None), joined(path, "id"), reading)
    enabled = reading.read(bool, said.pop("enabled", False), joined(path, "enabled"))
    change = reading.read(RuleChange, said, path)
    return None if change is None else Entry(change, id_, bool(enabled), path)


def _id(value: object, path: str, reading: Reading) -> UUID | None:
    if value is None:
        return None
    try:
        return UUID(str(value))
    except ValueError:
        reading.problems[path] = say("This is no id; leave it out for a new rule.")
        return None
