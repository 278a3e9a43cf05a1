"""The forms of the board: the filter, a document, its file, a section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    DateField,
    FileField,
    IntegerField,
    SelectChoice,
    SelectField,
    StringField,
)
from wtforms.validators import InputRequired, Optional, ValidationError

from dashboard.filter_fields import clean
from tasks.congregation.documents.drafts import (
    NAME_MAX,
    POSITION_MAX,
    TITLE_MAX,
    DocumentDraft,
)
from tasks.errors import InvalidInput
from tasks.models import BoardSection, Document
from tasks.saying import later, mark, meant, say

#: Tab of the board -> its name.
TABS: Final = {
    "visible": mark("On the board"),
    "soon": mark("Ending soon"),
    "later": mark("To come"),
    "ended": meant("documents", "Ended"),
    "all": mark("All"),
}
_NO_PLACE: Final = later(
    "Give a whole number. From 0 to %(max)s; lower comes first.", max=str(POSITION_MAX)
)


class _Day(DateField):  # type: ignore[misc]  # WTForms has no types
    """A day, or none; wrong ones get a sentence of ours."""

    def process_formdata(self, valuelist: list[str]) -> None:
        try:
            super().process_formdata(valuelist)
        except ValueError as error:
            raise ValueError(say("Give a day, such as 2026-03-10.")) from error


class _Place(IntegerField):  # type: ignore[misc]  # WTForms has no types
    """A place in an order; wrong ones get a sentence of ours."""

    def process_formdata(self, valuelist: list[str]) -> None:
        try:
            super().process_formdata(valuelist)
        except ValueError as error:
            raise ValueError(str(_NO_PLACE)) from error


class _Refusing(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """A form that shows the engine's refusal at the field that it names."""

    def refuse(self, refused: InvalidInput) -> None:
        """Show a refusal; at the first field when it names none of ours."""
        names = list(self._fields)
        name = refused.field if refused.field in names else names[0]
        self[name].errors = [*self[name].errors, refused.message]


class DocumentForm(_Refusing):
    """What an operator says about a document."""

    title = StringField(
        later("Title"),
        [InputRequired(later("Give it a title."))],
        render_kw={"maxlength": TITLE_MAX},
    )
    section = SelectField(
        later("Section"),
        invalid_choice_message=later("Choose one of the board's sections."),
    )
    new_section = StringField(
        later("Or a new section"),
        filters=[clean],
        description=later("Leave it empty to take the section above."),
        render_kw={"maxlength": NAME_MAX},
    )
    visible_from = _Day(
        later("First day"),
        [Optional()],
        description=later("Optional. Days are the congregation's own."),
    )
    visible_until = _Day(
        later("Last day"),
        [Optional()],
        description=later("Optional. It is still seen on that day."),
    )
    is_highlighted = BooleanField(
        later("Highlighted"), description=later("It comes first.")
    )
    position = _Place(
        later("Place in its section"),
        [InputRequired(_NO_PLACE)],
        default=0,
        description=later(
            "From 0 to %(max)s; lower comes first.", max=str(POSITION_MAX)
        ),
    )

    def offer(self, sections: Sequence[BoardSection]) -> None:
        """Say which sections may be chosen."""
        self.section.choices = [SelectChoice(str(one.id), one.name) for one in sections]
        # Nothing can be chosen yet: then a new one must be named.
        self.section.validate_choice = bool(sections) and not self.new_section.data

    def validate_new_section(self, field: StringField) -> None:
        """Refuse a document without any section."""
        if not field.data and not self.section.choices:
            raise ValidationError(say("Name the board's first section."))

    def show(self, row: Document) -> None:
        """Fill in what the document has."""
        self.title.data, self.section.data = row.title, str(row.section_id)
        self.visible_from.data = row.visible_from
        self.visible_until.data = row.visible_until
        self.is_highlighted.data = row.is_highlighted
        self.position.data = row.position

    def draft(self, section_id: UUID) -> DocumentDraft:
        """Return the validated input in the words of the engine."""
        return DocumentDraft(
            title=self.title.data,
            section_id=section_id,
            visible_from=self.visible_from.data,
            visible_until=self.visible_until.data,
            is_highlighted=self.is_highlighted.data,
            position=self.position.data,
        )


class FileForm(_Refusing):
    """A PDF."""

    file = FileField("PDF", render_kw={"accept": "application/pdf,.pdf"})

    def tell(self, words: str) -> None:
        """Say below the field what may be given."""
        self.file.description = words


class NewDocumentForm(DocumentForm, FileForm):
    """A document together with its file."""


class SectionForm(_Refusing):
    """A heading of the board, and where it stands."""

    name = StringField(
        later("Name"),
        [InputRequired(later("Give it a name."))],
        render_kw={"maxlength": NAME_MAX},
    )
    position = _Place(later("Place"), [InputRequired(_NO_PLACE)], default=0)


class NewSectionForm(_Refusing):
    """A new heading, behind the others."""

    name = StringField(
        later("Name"),
        [InputRequired(later("Give it a name."))],
        render_kw={"maxlength": NAME_MAX},
    )
