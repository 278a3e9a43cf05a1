"""The one form of a lane: how many workers it has."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import IntegerField
from wtforms.validators import NumberRange, Optional

from tasks.lane import WORKERS_MAX, Lane
from tasks.saying import later, say


class WorkersForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """How many sweeps of the lane one worker process runs at once."""

    workers = IntegerField(
        later("Workers in each process"),
        [
            Optional(),
            NumberRange(
                1,
                WORKERS_MAX,
                later("Give a number from 1 to %(max)s.", max=WORKERS_MAX),
            ),
        ],
    )

    @classmethod
    def of(cls, lane: Lane) -> WorkersForm:
        """Return the form with the lane's default told beside it."""
        form = cls()
        form.workers.description = say(
            "How many sweeps one worker process runs at once, 1 to %(max)s. Empty "
            "means the default: %(default)s.",
            max=WORKERS_MAX,
            default=lane.workers,
        )
        form.workers.render_kw = {
            "min": 1,
            "max": WORKERS_MAX,
            "placeholder": lane.workers,
        }
        return form
