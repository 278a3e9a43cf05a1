"""What the pages of the back office share: days, choices, deeds that may be refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

from flask import current_app, flash, redirect, request
from flask.typing import ResponseReturnValue
from flask_wtf import FlaskForm
from sqlalchemy import select
from sqlalchemy.orm import Session
from wtforms import Field, SelectChoice, SelectField
from wtforms.validators import InputRequired
from wtforms.widgets import DateInput

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.security import actor
from tasks.clock import utcnow
from tasks.congregation.days import local_day
from tasks.congregation.names import folded
from tasks.errors import InvalidInput, NotFound
from tasks.models import Congregation, Member
from tasks.operations.audit import Actor
from tasks.saying import later, say

#: Congregations, and members, that one choice of a form offers at most.
CHOICES_MAX: Final = 1_000

#: A verb of the engine on one row.
Deed = Callable[[Session, Actor, datetime], object]


@dataclass(frozen=True, slots=True)
class Place:
    """A congregation, and the day that its calendar shows now."""

    id: UUID
    slug: str
    name: str
    timezone: str
    today: date


class DayField(Field):  # type: ignore[misc]  # WTForms has no types
    """A day of the calendar, as browsers let people choose one."""

    widget = DateInput()

    def process_formdata(self, valuelist: list[str]) -> None:
        self.data: date | None = None
        self.raw = (valuelist[0] if valuelist else "").strip()[:40]
        if not self.raw:
            return
        try:
            self.data = date.fromisoformat(self.raw)
        except ValueError as error:
            raise ValueError(
                say("Give a day that exists, such as 2026-03-10.")
            ) from error

    def _value(self) -> str:
        return self.data.isoformat() if self.data else getattr(self, "raw", "")


class OfficeForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """A form whose fields are named as the engine names them."""

    problem = ""  # what is wrong and belongs to no field

    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names, else above the form."""
        if refused.field in self.data:
            field = self[refused.field]
            field.errors = [*field.errors, refused.message]
        else:
            self.problem = refused.message


class WithinForm(OfficeForm):
    """A form of something new: it says in which congregation."""

    congregation_id = SelectField(
        later("Congregation"),
        [InputRequired(later("Choose a congregation."))],
        invalid_choice_message=later("Choose a congregation."),
    )

    def offer_places(self, places: Sequence[Place]) -> None:
        """Say which congregations may be chosen."""
        self.congregation_id.choices = [
            SelectChoice(str(one.id), one.name) for one in places
        ]


def places(session: Session) -> Sequence[Place]:
    """Return the congregations that the session sees, by name."""
    now = utcnow()
    rows = session.scalars(
        select(Congregation).order_by(Congregation.name).limit(CHOICES_MAX)
    )
    return [_place(row, now) for row in rows]


def chosen_place() -> Place | None:
    """Return the congregation that the address or form names, or the only one."""
    seen = places(db.session())
    wanted = chosen_id(request.values.get("within"))
    named = [one for one in seen if one.id == wanted]
    return named[0] if named else seen[0] if len(seen) == 1 else None


def place(session: Session, congregation_id: UUID) -> Place:
    """Return a congregation and its day.

    Raises:
        NotFound: the session sees none.
    """
    row = session.get(Congregation, congregation_id)
    if row is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    return _place(row, utcnow())


def _place(row: Congregation, now: datetime) -> Place:
    today = local_day(now, row.timezone)
    return Place(row.id, row.slug, row.name, row.timezone, today)


def member_choices(
    session: Session, congregation_id: UUID, *, keep: Sequence[UUID | None] = ()
) -> list[SelectChoice]:
    """Return the members of a congregation who may be chosen, by name.

    Of more than ``CHOICES_MAX`` the page asks how the name begins; ``who`` tells it.

    Args:
        keep: members who are chosen already, and stay so whatever is asked for.
    """
    begins = folded(clean(request.values.get("who"))[:120])
    kept = Member.id.in_([id_ for id_ in keep if id_])
    rows = session.execute(
        select(Member.id, Member.last_name, Member.first_name)
        .where(
            Member.congregation_id == congregation_id,
            Member.anonymised_at.is_(None),
            Member.left_on.is_(None) | kept,
            Member.search_name.startswith(begins, autoescape=True) | kept,
        )
        .order_by(Member.search_name, Member.id)
        .limit(CHOICES_MAX)
    )
    return [SelectChoice(str(id_), f"{last} {first}") for id_, last, first in rows]


def chosen_id(text: object) -> UUID | None:
    """Return the id that a choice holds; ``None``: nothing was chosen."""
    try:
        return UUID(str(text)) if text else None
    except ValueError:
        return None


def asked_day(name: str) -> date | None:
    """Return the day of a field; ``None``: it is empty or none."""
    try:
        return date.fromisoformat(request.form.get(name, ""))
    except ValueError:
        return None


def attempt(deed: Deed, sentence: str, back_to: str) -> ResponseReturnValue:
    """Do what a button says; a refusal is shown on the page that it leads back to.

    Raises:
        NotFound: the row is gone, or of a congregation that is not seen here.
    """
    try:
        deed(db.session(), actor(), utcnow())
    except NotFound:
        raise
    except InvalidInput as refused:
        db.session.rollback()
        flash(refused.message, "error")
    else:
        db.session.commit()
        flash(sentence, "success")
    return redirect(back_to, 303)


def page_size() -> int:
    """Return how many rows one page of a list has."""
    size: int = current_app.config["CARILLON"].page_size
    return size
