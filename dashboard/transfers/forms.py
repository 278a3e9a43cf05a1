"""The forms of exports and imports."""

from __future__ import annotations

from typing import Final

from wtforms import BooleanField, FileField

from dashboard.office import WithinForm
from tasks.saying import later


class ExportForm(WithinForm):
    """What an archive is to have."""

    files = BooleanField(
        later("The document board, with its files"),
        default=True,
        description=later("Without it, only the board’s sections go along."),
    )
    audit = BooleanField(
        later("The audit log, to be read"),
        description=later("An import passes it over: it tells of this installation."),
    )


class ImportForm(WithinForm):
    """An archive that is to be looked at."""

    file = FileField(
        later("Archive"),
        description=later(
            "Of an export of Carillon, or of the public layout 1.0 to 2.6."
        ),
        render_kw={"accept": ".carillon,.unitae,.zip,application/zip"},
    )


#: Where an operator types nothing: these buttons only carry a number.
N_ROWS: Final = "n_rows"
