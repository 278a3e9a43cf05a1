"""What every group of fields has, and how its input is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from wtforms import SelectChoice

from tasks.models import Rule
from tasks.saying import later

T = TypeVar("T")
NUMBER: Final = later("Enter a whole number.")
#: Units of time, the shortest first.
UNIT_CHOICES: Final = (
    SelectChoice("minutes", later("minutes")),
    SelectChoice("hours", later("hours")),
    SelectChoice("days", later("days")),
)


class FieldGroup:
    """Some fields of a rule's form that belong together: a mixin of the form.

    A new group is a module, a partial in ``templates/rules/`` and a row in
    ``forms.GROUPS``.  The form calls each group's methods by the group's name, so
    that groups need not know each other.
    """

    def said(self) -> dict[str, Any]:
        """Return what the fields say, as arguments of ``RuleChange``."""
        return {}

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return what the fields show of a rule that exists: field -> value."""
        del rule
        return {}

    def drop_unasked(self) -> None:
        """Forget the errors of fields that are not on the page."""


class ActionFields(FieldGroup):
    """The fields of one action's settings; see ``deed.ACTION_GROUPS``."""

    #: The group's fields, which are kept hidden while another action is chosen.
    names: tuple[str, ...] = ()
    #: What fields show where the settings of a rule that exists say nothing.
    unsaid: Mapping[str, Any] = MappingProxyType({})

    def settings(self) -> dict[str, Any]:
        """Return the action's settings, in the action's own words."""
        return {}


def line(text: str | None) -> str:
    """Return a text of one line as it is kept."""
    return (text or "").strip()


def lines(text: str | None) -> str:
    """Return a text of many lines as it is kept: browsers send CR LF."""
    return (text or "").replace("\r\n", "\n").strip("\n")


def read(kind: Callable[[str], T], text: str | None) -> T | None:
    """Return a hidden field's value; None when it is no such value."""
    try:
        return kind(text or "")
    except ValueError:
        return None
