"""The form of a rule; it adapts to the trigger and the action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    HiddenField,
    IntegerField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)

from dashboard.rules.choices import action_choices, trigger_choices
from dashboard.rules.scope import RuleScope
from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.models import LatePolicy, OffsetUnit
from tasks.operations.rule_fields import ATTEMPTS_MAX, NAME_MAX, RuleChange, problems_of

T = TypeVar("T")
_NUMBER: Final = "Enter a whole number."


class RuleForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """A rule; which fields count depends on its trigger and its action."""

    # A new rule's id, so that a form sent twice makes one rule.
    rule_id = HiddenField()
    # The version that the operator looked at.
    version = HiddenField()
    name = StringField("Name", render_kw={"maxlength": NAME_MAX, "autocomplete": "off"})
    scope = SelectField("Applies to", validate_choice=False)
    trigger_type = SelectField(
        "When",
        choices=trigger_choices(),
        default="booking.confirmed",
        invalid_choice_message="Choose what starts the rule.",
    )
    offset_value = IntegerField(
        "How long",
        invalid_value_message=_NUMBER,
        default=24,
        render_kw={"min": 0, "inputmode": "numeric"},
    )
    offset_unit = SelectField(
        "Unit", choices=[unit.value for unit in OffsetUnit], default=OffsetUnit.HOURS
    )
    late_policy = RadioField(
        "If that moment has passed already when the rule learns of the date",
        choices=[
            SelectChoice(LatePolicy.SKIP, "Do nothing"),
            SelectChoice(
                LatePolicy.SEND_NOW, "Act at once, if the date is still ahead"
            ),
        ],
        default=LatePolicy.SKIP,
    )
    action = SelectField("Do this", choices=action_choices(), default="email")
    recipient = RadioField(
        "To",
        choices=[
            SelectChoice("guest", "The guest"),
            SelectChoice("host", "The podcast’s host"),
            SelectChoice("fixed", "This address"),
        ],
        default="guest",
        validate_choice=False,  # the action says it better
    )
    address = StringField("Address", render_kw={"inputmode": "email"})
    subject = StringField("Subject", render_kw={"maxlength": 1000})
    text = TextAreaField("Text", render_kw={"rows": 10})
    html = TextAreaField(
        "HTML",
        description="Optional. Without it the mail is plain text.",
        render_kw={"rows": 8, "spellcheck": "false"},
    )
    url = StringField(
        "Address",
        description="Gets a signed POST with the event as JSON.",
        render_kw={"inputmode": "url", "placeholder": "https://example.org/hook"},
    )
    max_attempts = IntegerField(
        "Attempts",
        invalid_value_message=_NUMBER,
        default=5,
        description=f"1 to {ATTEMPTS_MAX}. How often it is tried before it counts as "
        "failed; the pause between two attempts grows.",
        render_kw={"min": 1, "max": ATTEMPTS_MAX},
    )
    enabled = BooleanField("Switch it on at once", default=True)
    also_coming = BooleanField("Plan it also for what is in the calendar already")
    sample = SelectField("Preview with", validate_choice=False)

    @property
    def trigger(self) -> Trigger | None:
        """The chosen trigger; None when the choice is none of ours."""
        return TRIGGERS.get(self.trigger_type.data or "")

    @property
    def chosen_id(self) -> UUID | None:
        """The id that a new rule is to have; None lets the engine choose."""
        return _read(UUID, self.rule_id.data)

    @property
    def seen_version(self) -> int:
        """The version that the operator looked at; 0, which no rule has, if unsaid."""
        return _read(int, self.version.data) or 0

    @property
    def place(self) -> RuleScope | None:
        """Where the rule applies; None when the choice is none of ours."""
        return RuleScope.of(self.scope.data)

    def settings(self) -> dict[str, Any]:
        """Return the chosen action's settings."""
        if self.action.data == "webhook":
            return {"url": _line(self.url.data)}
        recipient = self.recipient.data or ""
        settings = {
            "recipient": recipient,
            "subject": _line(self.subject.data),
            "text": _lines(self.text.data),
            "html": _lines(self.html.data),
        }
        if recipient == "fixed":
            settings["address"] = _line(self.address.data)
        return settings

    def change(self) -> RuleChange:
        """Return the input in the engine's words; what is no number counts as 0."""
        scope = self.place
        return RuleChange(
            name=self.name.data or "",
            podcast_id=scope.podcast_id if scope else None,
            trigger_type=self.trigger_type.data or "",
            offset_value=self.offset_value.data or 0,
            offset_unit=_unit(self.offset_unit.data),
            late_policy=_policy(self.late_policy.data),
            action=self.action.data or "",
            settings=self.settings(),
            max_attempts=self.max_attempts.data or 0,
        )

    def is_good(self) -> bool:
        """Check everything, the engine's rules too, so that all errors show at once."""
        self.validate()
        if self.trigger is None or not self.trigger.is_time:
            self.offset_value.errors = []  # not on the page, and it does not count
        if self.place is None:
            self.refuse({"scope": "Choose what the rule applies to."})
        self.refuse(problems_of(self.change()))
        return not self.errors

    def refuse(self, problems: Mapping[str, str]) -> None:
        """Show each of the engine's sentences at its field, unless one stands there."""
        for name, problem in problems.items():
            field = self["scope" if name == "podcast_id" else name]
            if not field.errors:
                field.errors = [problem]


def _line(text: str | None) -> str:
    return (text or "").strip()


def _lines(text: str | None) -> str:
    # Browsers send CR LF; templates are kept with plain line ends.
    return (text or "").replace("\r\n", "\n").strip("\n")


def _read(kind: Callable[[str], T], text: str | None) -> T | None:
    try:
        return kind(text or "")
    except ValueError:
        return None


def _unit(word: str | None) -> OffsetUnit:
    return OffsetUnit(word) if word in set(OffsetUnit) else OffsetUnit.HOURS


def _policy(word: str | None) -> LatePolicy:
    return LatePolicy(word) if word in set(LatePolicy) else LatePolicy.SKIP
