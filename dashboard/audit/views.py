"""The audit log: read only, there is nothing to press."""

from __future__ import annotations

from flask import Blueprint, current_app, request

from dashboard.audit import queries
from dashboard.audit.forms import AuditFilter
from dashboard.audit.subjects import subject_url
from dashboard.extensions import db
from dashboard.search.views import explains
from dashboard.web import render
from tasks.clock import utcnow
from tasks.config import Config

bp = Blueprint("audit", __name__, url_prefix="/audit")


@bp.get("/")
@explains("audit")
def index() -> str:
    """List what operators did, newest first."""
    session = db.session()
    config: Config = current_app.config["CARILLON"]
    form = AuditFilter.read(request.args, is_strict=False)
    wanted = form.wanted(utcnow())
    page = queries.entries(
        session, wanted, request.args.get("cursor"), config.page_size
    )
    return render(
        "audit/list.html",
        form=form,
        page=page,
        congregations=queries.congregations_of(session, page.rows),
        changes=queries.changes,
        subject_url=subject_url,
    )
