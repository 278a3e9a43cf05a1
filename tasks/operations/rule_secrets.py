"""The secrets of a rule: made or taken out of what an operator said, and sealed.

Two kinds: one signing secret for all webhooks of a rule, made here and shown once
(``Rule.secret``); and a setting of one step that is a secret itself, such as the
address of a chat (``Rule.step_secrets``).  Settings keep only its mask, so neither
lists, nor versions, nor documents ever hold it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import KeepsSecret
from tasks.automation.steps import FIRST, all_steps
from tasks.models import Rule
from tasks.models.base import Json
from tasks.operations.rule_fields import InvalidRule
from tasks.operations.rule_steps import number_steps
from tasks.saying import say
from tasks.secrets import SecretBox

#: Actions whose effects are signed with the rule's secret.
SIGNED: Final = frozenset({"webhook"})


class _Deed(NamedTuple):
    number: int
    field: str  # where its fields are, before the setting's name
    action: str
    settings: Json  # to be changed


def needs_signing(rule: Rule) -> bool:
    """Whether something that the rule does is signed."""
    return any(step.action in SIGNED for step in all_steps(rule))


def put_away(values: dict[str, Any], rule: Rule | None, box: SecretBox) -> None:
    """Seal what is secret among a rule's new columns, and leave its mask instead.

    Args:
        values: the columns; steps get their numbers, ``n_steps`` and
            ``step_secrets`` are added.
        rule: as it is; None: it is about to be made.

    Raises:
        InvalidRule: a mask came back, and what it stands for is not kept here.
    """
    number_steps(values, rule)
    sealed: dict[str, str] = {}
    problems: dict[str, str] = {}
    for deed in _deeds(values):
        action = ACTIONS[deed.action]
        if not isinstance(action, KeepsSecret):
            continue
        name = action.secret_setting
        text = str(deed.settings[name])
        if not action.is_mask(text):
            deed.settings[name] = action.mask(text)
            sealed[str(deed.number)] = box.seal(text)
        elif kept := _kept(rule, deed, name):
            sealed[str(deed.number)] = kept
        else:
            unknown = say("It is not known any more; give it again.")
            problems[deed.field + name] = unknown
    if problems:
        raise InvalidRule(problems)
    values["step_secrets"] = sealed


def _deeds(values: dict[str, Any]) -> Iterator[_Deed]:
    yield _Deed(FIRST, "", values["action"], values["settings"])
    for place, step in enumerate(values["steps"]):
        field = f"steps.{place}."
        yield _Deed(step["number"], field, step["action"], step["settings"])


def _kept(rule: Rule | None, deed: _Deed, name: str) -> str | None:
    """Return the sealed secret that a mask stands for; ``None``: there is none."""
    for step in all_steps(rule) if rule else ():
        is_same = step.action == deed.action and step.number == deed.number
        if rule and is_same and step.settings.get(name) == deed.settings[name]:
            sealed: str | None = rule.step_secrets.get(str(step.number))
            return sealed
    return None
