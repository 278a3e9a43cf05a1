"""Planning a rule for what is in the calendar already: first looked at, then done."""

from __future__ import annotations

from uuid import UUID

from dashboard.extensions import db
from dashboard.rules import queries
from dashboard.rules.foretelling import parts_of
from dashboard.rules.views import bp
from dashboard.security import require
from dashboard.web import render
from tasks.automation.impact import LOOKED_AT_MAX, Impact
from tasks.automation.triggers import TRIGGERS
from tasks.clock import utcnow
from tasks.operations.rule_impact import impact_of_planning


@bp.get("/<uuid:rule_id>/plan")
@require("operator")
def plan(rule_id: UUID) -> str:
    """Show which jobs the calendar would get; nothing is planned yet."""
    session = db.session()
    rule = queries.living(session, rule_id)
    trigger = TRIGGERS.get(rule.trigger_type)
    is_time = trigger is not None and trigger.is_time
    now = utcnow()
    impact = impact_of_planning(session, rule_id, now=now) if is_time else Impact()
    return render(
        "rules/plan.html",
        rule=rule,
        is_time=is_time,
        impact=impact,
        parts=parts_of(session, rule.congregation_id, impact),
        looked_at=LOOKED_AT_MAX,
    )
