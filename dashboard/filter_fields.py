"""The fields of a filter: texts that PostgreSQL takes, and instants."""

from __future__ import annotations

from datetime import UTC, datetime

from babel.support import LazyProxy
from markupsafe import Markup, escape
from wtforms import Choice, Field, widgets
from wtforms.widgets import DateTimeLocalInput

from dashboard.zones import here, own_zone
from tasks.saying import say


def clean(text: str | None) -> str:
    r"""Drop what no name has; PostgreSQL refuses NUL even in a question.

    Tabs, line ends and hard spaces keep words apart, so they become spaces.

    >>> clean(" Anna\tBerg\0\xa0")
    'Anna Berg'
    """
    spaced = (" " if char.isspace() else char for char in text or "")
    return "".join(char for char in spaced if char.isprintable()).strip()


def by_own_clock(label: object) -> LazyProxy:
    """Return the label of a MomentField: it tells by which clock the field is read."""
    return LazyProxy(lambda: f"{label} ({own_zone().key})", enable_cache=False)


class MomentField(Field):  # type: ignore[misc]  # WTForms has no types
    """An instant as ISO text; without an offset it is told by the operator's clock.

    An address that means the same for everybody has an offset.
    """

    widget = DateTimeLocalInput()

    def process_formdata(self, valuelist: list[str]) -> None:
        self.data: datetime | None = None
        if not valuelist or not valuelist[0].strip():
            return
        try:
            given = datetime.fromisoformat(valuelist[0].strip())
            aware = given if given.tzinfo else given.replace(tzinfo=own_zone())
            here(aware)  # the first and last day there is have no such time elsewhere
            self.data = aware.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise ValueError(say("must look like 2026-03-10T12:00")) from error

    def _value(self) -> str:
        return f"{here(self.data):%Y-%m-%dT%H:%M}" if self.data else ""


class Select(widgets.Select):  # type: ignore[misc]  # WTForms has no types
    """A choice of many names, written out without a table of attributes for each."""

    @classmethod
    def render_option(cls, choice: Choice, **kwargs: object) -> str:
        """Return one option."""
        if choice.render_kw or kwargs:
            return str(super().render_option(choice, **kwargs))
        mark = " selected" if choice.selected else ""
        name = escape(choice.label or choice.value)
        return Markup(f'<option{mark} value="{escape(choice.value)}">{name}</option>')  # noqa: S704  # escaped
