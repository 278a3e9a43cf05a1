"""The fields of a filter: texts that PostgreSQL takes, and instants."""

from __future__ import annotations

from datetime import UTC, datetime

from wtforms import Field
from wtforms.widgets import DateTimeLocalInput


def clean(text: str | None) -> str:
    """Drop what no name has; PostgreSQL refuses NUL even in a question."""
    return "".join(char for char in text or "" if char.isprintable()).strip()


class MomentField(Field):  # type: ignore[misc]  # WTForms has no types
    """An instant as ISO text; without an offset it is UTC."""

    widget = DateTimeLocalInput()

    def process_formdata(self, valuelist: list[str]) -> None:
        self.data: datetime | None = None
        if not valuelist or not valuelist[0].strip():
            return
        try:
            given = datetime.fromisoformat(valuelist[0].strip())
            aware = given if given.tzinfo else given.replace(tzinfo=UTC)
            self.data = aware.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise ValueError("must look like 2026-03-10T12:00, in UTC") from error

    def _value(self) -> str:
        return self.data.strftime("%Y-%m-%dT%H:%M") if self.data else ""
