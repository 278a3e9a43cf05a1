"""What a rule would send, made by the same code that sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from dashboard.rules.forms import RuleForm
from dashboard.rules.samples import context_for
from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import CannotCompose
from tasks.outbound.layout import UNSUBSCRIBE, html_of
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class Preview:
    """A message as it would leave, or the sentence why there is none."""

    action: str
    message: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def html(self) -> str:
        """The HTML of a mail as it arrives; empty when it has none."""
        if self.action != "email" or self.problem:
            return ""
        return html_of(self.message, UNSUBSCRIBE if self.message["optional"] else None)


def preview_of(session: Session, form: RuleForm) -> Preview:
    """Compose what the form says for the record that it has chosen.

    A form that cannot be saved yet is no error: the preview says what is missing.
    """
    action, trigger, place = ACTIONS.get(form.action.data), form.trigger, form.place
    if action is None or trigger is None or place is None:
        problem = say("Choose what starts the rule and what it does.")
        return Preview("", problem=problem)
    settings = form.settings()
    problems = action.check(settings, trigger.name)
    if problems:
        return Preview(action.name, problem=next(iter(problems.values())))
    context = context_for(session, place, trigger, form.sample.data or "")
    try:
        return Preview(action.name, action.compose(settings, context))
    except CannotCompose as refused:
        return Preview(action.name, problem=refused.sentence)
