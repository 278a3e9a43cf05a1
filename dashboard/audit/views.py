"""The audit log: read only, there is nothing to press."""

from __future__ import annotations

from flask import Blueprint, current_app, request

from dashboard.audit import queries
from dashboard.audit.forms import AuditFilterForm
from dashboard.audit.subjects import subject_url
from dashboard.extensions import db
from dashboard.web import render
from tasks.config import Config

bp = Blueprint("audit", __name__, url_prefix="/audit")


@bp.get("/")
def index() -> str:
    """List what operators did, newest first."""
    session = db.session()
    config: Config = current_app.config["CARILLON"]
    form = AuditFilterForm.of(request.args)
    wanted = form.wanted()
    page = queries.entries(
        session, wanted, request.args.get("cursor"), config.page_size
    )
    return render(
        "audit/list.html",
        form=form,
        is_filtered=not wanted.is_empty,
        page=page,
        congregations=queries.congregations_of(session, page.rows),
        changes=queries.changes,
        subject_url=subject_url,
    )
