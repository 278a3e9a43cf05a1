"""The pages of retention: the clock, the list of blocks, the ledger, and its deeds."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.congregations.queries import congregation
from dashboard.extensions import db
from dashboard.members.queries import member
from dashboard.office import page_size
from dashboard.retention import queries
from dashboard.retention.filters import LedgerFilter, RetentionFilter
from dashboard.retention.forms import AnonymiseForm, MonthsForm, asked_months
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.retention.anonymising import anonymise
from tasks.congregation.retention.candidates import Today
from tasks.congregation.retention.foretelling import foretell
from tasks.congregation.retention.holding import set_months
from tasks.congregation.retention.months import NOTICE
from tasks.errors import InvalidInput, NotFound
from tasks.models import Congregation
from tasks.models.congregation import RETENTION_MONTHS_MAX
from tasks.saying import say

bp: Final = Blueprint("retention", __name__, url_prefix="/retention")


@bp.get("/")
@explains("retention")
def index() -> str:
    """List the congregations, and how many of their members left."""
    form = RetentionFilter.read(request.args)
    wanted, cursor = form.conditions(utcnow()), request.args.get("cursor")
    page = queries.congregations(db.session(), wanted, cursor, page_size())
    return render("retention/list.html", page=page, form=form)


@bp.get("/<slug>")
def detail(slug: str) -> str:
    """Show a congregation's clock, and who has to stay."""
    found = congregation(db.session(), slug)
    return _detail(found, MonthsForm(months=found.retention_months))


@bp.get("/<slug>/dry-run")
def dry_run(slug: str) -> str:
    """Show what a run would do now, with the months that are set or with others."""
    session = db.session()
    found = congregation(session, slug)
    months = asked_months(request.args.get("months"))
    if months is None or not 1 <= months <= RETENTION_MONTHS_MAX:
        months = found.retention_months
    told = foretell(session, Today.of(found, utcnow(), months=months))
    return render(
        "retention/dry_run.html",
        congregation=found,
        told=told,
        months_max=RETENTION_MONTHS_MAX,
    )


@bp.get("/<slug>/ledger")
@explains("ledger")
def ledger(slug: str) -> str:
    """List who was erased, newest first."""
    session = db.session()
    found = congregation(session, slug)
    form = LedgerFilter.read(request.args.to_dict() | {"slug": slug})
    wanted, cursor = form.conditions(utcnow()), request.args.get("cursor")
    page = queries.ledger(session, found.id, wanted, cursor, page_size())
    return render("retention/ledger.html", congregation=found, page=page, form=form)


@bp.post("/<slug>/months")
@require("admin")
def change_months(slug: str) -> ResponseReturnValue:
    """Say how long who left is kept."""
    session = db.session()
    found = congregation(session, slug)
    form = MonthsForm()
    try:
        set_months(session, found.id, asked_months(form.months.data), actor())
    except InvalidInput as refused:
        form.refuse(refused)
        return _detail(found, form), 422
    session.commit()
    flash(say("Saved. The next run goes by it."), "success")
    return redirect(url_for(".detail", slug=slug), 303)


@bp.get("/members/<uuid:member_id>")
@require("admin")
def confirm(member_id: UUID) -> str:
    """Ask whether to anonymise a member, and say what that means."""
    return _confirm(member_id, AnonymiseForm())


@bp.post("/members/<uuid:member_id>")
@require("admin")
def anonymise_now(member_id: UUID) -> ResponseReturnValue:
    """Anonymise a member whose name was typed."""
    session, form = db.session(), AnonymiseForm()
    typed = (form.name.data or "")[:400]
    try:
        called = anonymise(session, member_id, actor(), now=utcnow(), typed_name=typed)
    except NotFound:
        raise
    except InvalidInput as refused:
        session.rollback()
        form.refuse(refused)
        return _confirm(member_id, form), 422
    session.commit()
    flash(say("Done: from now on this is %(name)s.", name=called), "success")
    return redirect(url_for("members.detail", member_id=member_id), 303)


def _detail(found: Congregation, form: MonthsForm) -> str:
    session = db.session()
    today = Today.of(found, utcnow())
    return render(
        "retention/detail.html",
        congregation=found,
        form=form,
        today=today.day,
        notice=NOTICE,
        run=queries.last_run(session, found.id),
        blocked=queries.blocked(session, today),
        page=queries.ticking(session, today, request.args.get("cursor"), page_size()),
    )


def _confirm(member_id: UUID, form: AnonymiseForm) -> str:
    one = member(db.session(), member_id)
    heads = [group for group in one.leads if group.responsible_id == one.row.id]
    return render(
        "retention/anonymise.html",
        one=one,
        row=one.row,
        heads=heads,
        form=form,
        n_open=sum(1 for work, _ in one.work if work.ended_on is None),
    )
