"""The runs of all lanes on one page, to be searched."""

from __future__ import annotations

from flask import request

from dashboard.extensions import db
from dashboard.lanes import queries
from dashboard.lanes.views import bp
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from dashboard.search.views import explains
from dashboard.security import current_operator
from dashboard.web import render
from tasks import registry
from tasks.clock import utcnow


class RunFilter(PlainFilter):
    """Which runs to list."""

    searched = SEARCHED["runs"]


@bp.get("/runs")
@explains("runs")
def runs() -> str:
    """List the runs of all lanes, newest first."""
    form = RunFilter.read(request.args)
    wanted, cursor = form.conditions(utcnow()), request.args.get("cursor")
    return render(
        "lanes/runs.html",
        form=form,
        page=queries.found_runs(db.session(), wanted, cursor),
        titles={lane.name: lane.title for lane in registry.LANES},
        sees_all=current_operator().sees_all,
    )
