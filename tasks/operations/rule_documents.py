"""A rule as a document: what an operator may say about it, as plain JSON values.

Versions keep documents and files carry them.  Whatever ``RuleChange`` can say is in
them; secrets are not, since no field of it is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from enum import StrEnum
from typing import Any, Final

from tasks.models import Rule
from tasks.models.base import Json
from tasks.operations.rule_fields import RuleChange
from tasks.operations.typed_reading import Reading

_PLAIN: Final = frozenset({str, int, bool, float})


def document_of(rule: Rule) -> Json:
    """Return a rule's document; each field of ``RuleChange`` is a column of rules."""
    return {each.name: as_json(getattr(rule, each.name)) for each in fields(RuleChange)}


def change_of(document: Mapping[str, Any]) -> RuleChange:
    """Return what a document that we wrote says; a later field has its default.

    Raises:
        ValueError: it is none of ours.
    """
    known = {each.name for each in fields(RuleChange)}
    kept = {name: value for name, value in document.items() if name in known}
    reading = Reading()
    change = reading.read(RuleChange, kept, "")
    if not isinstance(change, RuleChange):
        raise ValueError(f"unreadable rule document: {reading.problems}")
    return change


def as_json(value: object) -> Any:  # noqa: ANN401  # whatever JSON can say
    """Return a value of a rule as JSON can say it."""
    if value is None or type(value) in _PLAIN:  # nearly all are
        return value
    if isinstance(value, StrEnum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return as_json(asdict(value))
    if isinstance(value, Mapping):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return value
