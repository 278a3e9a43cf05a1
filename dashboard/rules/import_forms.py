"""The form of an import: a file, or the text of one that was looked at."""

from __future__ import annotations

from uuid import UUID

from flask_wtf import FlaskForm
from sqlalchemy.orm import Session
from wtforms import BooleanField, FileField, HiddenField, SelectChoice, SelectField

from dashboard.rules.fields.base import read
from dashboard.rules.scope import places
from tasks.saying import later, say


class ImportForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """Where to, what, and whether new rules begin at once."""

    congregation = SelectField(later("Into"), validate_choice=False)
    file = FileField(
        later("File"),
        description=later("YAML as “Export” writes it, at most 1 MB and 500 rules."),
        render_kw={"accept": ".yaml,.yml,application/yaml"},
    )
    # The file's text, from the page that shows what it would do.
    text = HiddenField()
    # What that page showed.
    seen = HiddenField()
    switch_on = BooleanField(
        later("Switch on the new rules that are on in the file"),
        description=later("Otherwise new rules are off until somebody looked at them."),
    )

    @classmethod
    def of(cls, session: Session, *, formdata: bool = True) -> ImportForm:
        """Return the form with the congregations that the session sees."""
        form = cls() if formdata else cls(formdata=None)
        form.congregation.choices = [
            SelectChoice(str(place.congregation_id), place.congregation)
            for place in places(session)
            if place.podcast_id is None
        ]
        if not form.congregation.data and form.congregation.choices:
            form.congregation.data = form.congregation.choices[0].value
        return form

    def is_good(self) -> bool:
        """Check that there is something to read, and somewhere to put it."""
        self.validate()
        known = {choice.value for choice in self.congregation.choices}
        if self.congregation.data not in known:
            self.congregation.errors = [say("Choose one of these congregations.")]
        if not self.content.strip():
            self.file.errors = [say("Choose a file that is not empty.")]
        return not self.errors

    @property
    def congregation_id(self) -> UUID:
        """Where the rules are to go; asked only of a form that is good."""
        found = read(UUID, self.congregation.data)
        if found is None:
            raise ValueError("the form is not good")
        return found

    @property
    def content(self) -> bytes:
        """The file, or the text that stands for it; read once and kept."""
        kept: bytes | None = getattr(self, "_content", None)
        if kept is None:
            uploaded = self.file.data
            if hasattr(uploaded, "read"):
                kept = uploaded.read()
                uploaded.close()
            else:
                # Browsers send CR LF, which would count twice.
                kept = str(self.text.data or "").replace("\r\n", "\n").encode()
            self._content = kept
        return kept
