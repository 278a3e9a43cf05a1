"""The form of a view."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import g
from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    IntegerField,
    SelectChoice,
    SelectField,
    StringField,
    ValidationError,
)
from wtforms.validators import DataRequired, Length, NumberRange, Optional

from dashboard.filter_fields import clean
from dashboard.saved_views.keeping import Wish
from dashboard.security import current_congregations, may
from tasks.db import Scope
from tasks.lane import COUNT_CAP
from tasks.models import SavedView
from tasks.models.saved_view import VIEW_NAME_MAX
from tasks.saying import later, say

_ME: Final = "me"
_ALL: Final = "all"


class ViewForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an operator says about a view."""

    name = StringField(
        later("Name"),
        [
            DataRequired(later("Give it a name.")),
            Length(
                max=VIEW_NAME_MAX,
                message=later("At most %(max)s characters.", max=VIEW_NAME_MAX),
            ),
        ],
        filters=[clean],
        description=later(
            "A view of yours with the same name shows this search instead."
        ),
        render_kw={"maxlength": VIEW_NAME_MAX, "autocomplete": "off"},
    )
    audience = SelectField(
        later("Who sees it"),
        default=_ME,
        description=later("Everybody counts their own rows; nobody sees more by it."),
    )
    alert_at = IntegerField(
        later("Warn from so many rows"),
        [
            Optional(),
            NumberRange(
                1,
                COUNT_CAP,
                message=later("A number from 1 to %(max)s.", max=str(COUNT_CAP)),
            ),
        ],
        description=later(
            "It then stands out in the menu and on the first page. Empty: it never "
            "does."
        ),
        render_kw={"min": 1, "max": COUNT_CAP, "inputmode": "numeric"},
    )
    by_mail = BooleanField(
        later("Also by mail"),
        description=later(
            "One mail when it begins to warn: to you, and to those operators and "
            "admins with whom you share it."
        ),
    )

    def validate_by_mail(self, by_mail: BooleanField) -> None:
        """Refuse mails of a view that never warns."""
        if by_mail.data and not self.alert_at.data and not self.alert_at.errors:
            raise ValidationError(say("Say above from how many rows on it warns."))

    @classmethod
    def of(cls, view: SavedView | None = None) -> ViewForm:
        """Return the form, with what a view is like so far."""
        form = cls(
            name=view.name if view else None,
            alert_at=view.alert_at if view else None,
            by_mail=view.by_mail if view else False,
            audience=_audience(view) if view else _ME,
        )
        form.audience.choices = [SelectChoice(_ME, say("Only me")), *_others()]
        return form

    def wish(self) -> Wish:
        """Return what was said."""
        chosen = self.audience.data
        is_one = chosen not in (_ME, _ALL)
        return Wish(
            name=self.name.data,
            is_shared=chosen != _ME,
            congregation_id=UUID(chosen) if is_one else None,
            alert_at=self.alert_at.data,
            by_mail=self.by_mail.data,
        )


def _audience(view: SavedView) -> str:
    if not view.is_shared:
        return _ME
    return str(view.congregation_id) if view.congregation_id else _ALL


def _others() -> list[SelectChoice]:
    """Return with whom who is logged in may share a view."""
    if not may("operator"):
        return []
    found = [
        SelectChoice(
            str(one.id), say("Operators of %(congregation)s", congregation=one.name)
        )
        for one in current_congregations()
    ]
    if g.allowed is Scope.EVERY:
        found.append(SelectChoice(_ALL, say("Everybody who may log in")))
    return found
