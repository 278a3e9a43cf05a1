"""How far an operation is, in a sentence with its numbers set off."""

from __future__ import annotations

from markupsafe import Markup

from dashboard.filters import number
from dashboard.operations.words import WORDS
from tasks.lane import COUNT_CAP
from tasks.models import Operation
from tasks.saying import say_many


def progress(row: Operation) -> Markup:
    """Return how many rows were looked at, changed and skipped."""
    words = WORDS[row.kind]
    total = Markup('<span class="figures">{}</span>').format(
        number(row.n_total, COUNT_CAP)
    )
    parts = (
        words.noun.looked(row.n_total, _strong(row.n_done), total),
        words.changed(row.n_changed, _strong(row.n_changed)),
        words.noun.skipped(row.n_skipped, _strong(row.n_skipped)),
    )
    said = ", ".join(parts) + "."
    return Markup(said)  # noqa: S704  # marked texts with numbers in them, nothing else


def came_of_it(row: Operation) -> str:
    """Return how many executions were made, as a sentence."""
    return say_many(
        row.n_made, "%(n)s execution came of it.", "%(n)s executions came of it."
    )


def _strong(n: int) -> Markup:
    return Markup('<strong class="figures">{}</strong>').format(number(n))
