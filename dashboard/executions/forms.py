"""The filter of the list of executions."""

from __future__ import annotations

from wtforms import HiddenField
from wtforms.validators import AnyOf, Optional

from dashboard.filter_fields import clean
from dashboard.filtering import ListFilter
from dashboard.search.kinds import SEARCHED
from tasks.models import ExecutionState
from tasks.saying import later


class ExecutionFilter(ListFilter):
    """Executions by what they are about, and by when they were made."""

    searched = SEARCHED["executions"]
    state = HiddenField(
        validators=[Optional(), AnyOf(list(ExecutionState), later("must be a state"))],
        filters=[clean],
    )
