"""The forms of imports: the file, and how its contacts are taken over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import FileField, RadioField, SelectChoice, SelectField, StringField

from dashboard.filter_fields import clean
from tasks.errors import InvalidInput
from tasks.models import Congregation
from tasks.outreach.checks import checked_address
from tasks.outreach.import_rows import How
from tasks.saying import later, mark, say

KNOWN: Final = {
    "merge": mark("Give them what the file says"),
    "keep": mark("Leave them as they are"),
}


class _RefusableForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names, else at the last."""
        names = [name for name in self.data if name != "csrf_token"]
        name = refused.field if refused.field in names else names[-1]
        self[name].errors = [*self[name].errors, refused.message]


class ContactFileForm(_RefusableForm):
    """A file of contacts to look at."""

    congregation_id = SelectField(later("Congregation"), validate_choice=False)
    file = FileField(
        later("File"),
        description=later(
            "CSV or JSON, up to 5 MB and 20,000 contacts. The first line of a CSV "
            "file names the columns: E-mail, and if there are any Name, Stage, Next "
            "action; Courriel, Nom, Étape."
        ),
        render_kw={"accept": ".csv,.tsv,.txt,.json,text/csv,application/json"},
    )

    def offer(self, congregations: Sequence[Congregation]) -> None:
        """Say which congregations may be chosen."""
        self.congregation_id.choices = [
            SelectChoice(str(one.id), one.name) for one in congregations
        ]

    @property
    def congregation(self) -> UUID:
        """The chosen congregation.

        Raises:
            InvalidInput: none is chosen.
        """
        try:
            return UUID(self.congregation_id.data or "")
        except ValueError as error:
            raise InvalidInput(
                "required", say("Choose a congregation."), field="congregation_id"
            ) from error


class HowForm(_RefusableForm):
    """How a file is taken over; its page reads it from the address as well."""

    class Meta:
        """Looking changes nothing; a yes is guarded as every other request is."""

        csrf = False

    known = RadioField(
        later("Contacts that are known already"),
        choices=[SelectChoice(word, later(title)) for word, title in KNOWN.items()],
        default="merge",
        validate_choice=False,
    )
    agent = StringField(
        later("Enrol them for the agent"),
        description=later(
            "Its address; stage and next action go to its engagements. Empty: "
            "nobody is enrolled."
        ),
        filters=[clean],
        render_kw={"inputmode": "email", "autocomplete": "off", "maxlength": 254},
    )

    def how(self, filename: str) -> How:
        """Return the choice in the engine's words.

        Raises:
            InvalidInput: the agent's address is wrong.
        """
        given = self.agent.data
        agent = checked_address(given, "agent") if given else None
        return How(self.known.data != "keep", agent, filename)
