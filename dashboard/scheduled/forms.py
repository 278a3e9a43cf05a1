"""The filter of the list of scheduled jobs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session
from wtforms import HiddenField
from wtforms.validators import AnyOf, Optional

from dashboard.filter_fields import clean
from dashboard.filtering import ListFilter
from dashboard.search.kinds import SEARCHED
from tasks.models import JobState
from tasks.operations.matching import Matching
from tasks.saying import later

#: Asks for jobs in every state; without a state, the list shows what is to come.
ALL: Final = "all"


class JobFilter(ListFilter):
    """Scheduled jobs by what they are about, and by when they are due."""

    searched = SEARCHED["scheduled"]
    state = HiddenField(
        validators=[Optional(), AnyOf([*JobState, ALL], later("must be a state"))],
        filters=[clean],
    )

    def matching(self, session: Session, now: datetime) -> Matching:
        """Return the filter in the engine's words: without a state, what waits.

        Raises:
            InvalidInput: ``bad_filter``.
        """
        found = super().matching(session, now)
        state = None if found.state == ALL else found.state or JobState.PENDING
        return replace(found, state=state)
