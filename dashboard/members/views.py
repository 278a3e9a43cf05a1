"""The pages of members: the list, and one of them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import Blueprint, request

from dashboard.extensions import db
from dashboard.members import queries
from dashboard.members.filters import MemberFilter
from dashboard.members.standing import standing
from dashboard.office import page_size
from dashboard.search.views import explains
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.days import local_day
from tasks.congregation.people.contacts import CONSENTS
from tasks.congregation.retention.candidates import due_on

bp: Final = Blueprint("members", __name__, url_prefix="/members")


@bp.get("/")
@explains("members")
def index() -> str:
    """List the members of a tab by name."""
    form = MemberFilter.read(request.args)
    wanted, cursor = form.wanted(utcnow()), request.args.get("cursor")
    page = queries.listed(db.session(), wanted, cursor, page_size())
    return render(
        "members/list.html",
        page=page,
        tabs=queries.TABS,
        form=form,
        standing=lambda row, of: standing(row, local_day(utcnow(), of.timezone)),
        erased_on=due_on,
    )


@bp.get("/<uuid:member_id>")
def detail(member_id: UUID) -> str:
    """Show a member, and what belongs to it."""
    one = queries.member(db.session(), member_id)
    today = local_day(utcnow(), one.congregation.timezone)
    held = {each.kind for each in one.consents if each.withdrawn_at is None}
    return render(
        "members/detail.html",
        one=one,
        row=one.row,
        today=today,
        state=standing(one.row, today),
        erased_on=due_on,
        consents=CONSENTS,
        held=held,
    )
