"""A plan as an operator chose it: for holds that are lifted and lanes that go on."""

from __future__ import annotations

from flask import request

from dashboard.selection import confirmed_at, confirmed_id
from tasks.errors import InvalidInput
from tasks.holds.plans import Chosen, Plan
from tasks.operations.releasing import MINUTES_MAX
from tasks.saying import say

MINUTES_USUAL = 30


def chosen() -> Chosen:
    """Return the plan that was posted.

    Raises:
        InvalidInput: none was chosen, the minutes are no number, or the question was
            not asked.
    """
    try:
        plan = Plan(request.form.get("plan", ""))
    except ValueError:
        raise InvalidInput(
            "no_plan", say("Choose what becomes of what waits."), field="plan"
        ) from None
    return Chosen(plan, _minutes(plan), confirmed_id(), confirmed_at())


def _minutes(plan: Plan) -> int:
    text = request.form.get("minutes", "").strip()
    if plan is not Plan.SPREAD:
        return 0
    if not text.isascii() or not text.isdecimal() or len(text) > len(str(MINUTES_MAX)):
        raise InvalidInput(
            "minutes_out_of_bounds",
            say("Give a number of minutes from 1 to %(max)s.", max=str(MINUTES_MAX)),
            field="minutes",
        )
    return int(text)
