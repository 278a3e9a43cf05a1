"""Failures by cause: the list, one group, and what can be done about it."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.failures import pictures, queries, standing
from dashboard.failures.filters import FailureFilter
from dashboard.failures.forms import AcknowledgeForm
from dashboard.operations.asking import Question, ask, begin
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.selection import nothing_selected, selected
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.failures.groups import acknowledge, find, reopen
from tasks.models import Delivery, Execution, FailureGroup, OperationKind
from tasks.saying import say, say_many

bp = Blueprint("failures", __name__, url_prefix="/failures")


@bp.get("/")
@explains("failures")
def index() -> str:
    """List what failed alike, what failed last first."""
    return _list(AcknowledgeForm())


@bp.post("/acknowledge")
def acknowledge_selected() -> ResponseReturnValue:
    """Take note of the groups that were ticked."""
    form, ids = AcknowledgeForm(), selected()
    if not ids:
        return nothing_selected(url_for(".index"))
    if (why := _acknowledged(form, ids)) is not None:
        flash(why, "warning")
        return _list(form, ticked=ids), 422
    return redirect(url_for(".index"), 303)


@bp.get("/<uuid:failure_id>")
def detail(failure_id: UUID) -> str:
    """Show one group: what it is, who took note of it, and what belongs to it."""
    return _detail(failure_id, AcknowledgeForm())


@bp.post("/<uuid:failure_id>/acknowledge")
def acknowledge_one(failure_id: UUID) -> ResponseReturnValue:
    """Take note of a group."""
    find(db.session(), failure_id)
    form = AcknowledgeForm()
    if (why := _acknowledged(form, [failure_id])) is not None:
        flash(why, "warning")
        return _detail(failure_id, form), 422
    return redirect(url_for(".detail", failure_id=failure_id), 303)


@bp.post("/<uuid:failure_id>/reopen")
def reopen_one(failure_id: UUID) -> ResponseReturnValue:
    """Let a group ask for somebody again."""
    if reopen(db.session(), failure_id, actor()):
        flash(say("It asks for somebody again."), "success")
    else:
        flash(say("It asks for somebody already."), "info")
    db.session.commit()
    return redirect(url_for(".detail", failure_id=failure_id), 303)


@bp.get("/<uuid:failure_id>/retry")
@require("operator")
def ask_retry(failure_id: UUID) -> str:
    """Say how many rows of a group are still failed, and ask about another try."""
    return ask(_question(failure_id))


@bp.post("/<uuid:failure_id>/retry")
def retry(failure_id: UUID) -> ResponseReturnValue:
    """Queue the executions of a group once more, or send its deliveries again."""
    return begin(_question(failure_id))


def failure_of(row: Execution | Delivery) -> FailureGroup | None:
    """Return the group of failures that a row belongs to; None: it has not failed."""
    if row.state not in ("failed", "quarantined"):
        return None
    return queries.group_of(db.session(), row)


def _question(failure_id: UUID) -> Question:
    group = find(db.session(), failure_id)
    is_delivery = group.endpoint_id is not None
    return Question(
        OperationKind.RETRY_DELIVERIES
        if is_delivery
        else OperationKind.RETRY_EXECUTIONS,
        url_for(".detail", failure_id=failure_id),
        say("Failures"),
        {"group_id": str(failure_id)},
    )


def _acknowledged(form: AcknowledgeForm, ids: list[UUID]) -> str | None:
    """Take note of groups and commit; returns why that cannot be, if so."""
    if not form.validate_on_submit():
        return form.first_error()
    note, until = form.note.data or "", form.until.data
    try:
        n = acknowledge(
            db.session(), ids, actor(), note=note, until=until, now=utcnow()
        )
    except InvalidInput as refused:
        db.session.rollback()
        return refused.message
    db.session.commit()
    told = say_many(n, "%(n)s group acknowledged.", "%(n)s groups acknowledged.")
    flash(told, "success")
    return None


def _list(form: AcknowledgeForm, ticked: Collection[UUID] = ()) -> str:
    session, now = db.session(), utcnow()
    asked = FailureFilter.read(request.args)
    limit = current_app.config["CARILLON"].page_size
    cursor = request.args.get("cursor")
    return render(
        "failures/list.html",
        fragment="failures/_groups.html",
        asked=asked,
        tab=asked.chosen,
        tabs=queries.TABS,
        page=queries.page(session, asked.wanted(now), cursor, limit, now=now),
        n_asking=queries.n_asking(session, now=now),
        form=form,
        ticked=ticked,
        **_helpers(),
    )


def _detail(failure_id: UUID, form: AcknowledgeForm) -> str:
    session, now = db.session(), utcnow()
    line = queries.line(session, failure_id, now=now)
    read = queries.deliveries if line.is_delivery else queries.executions
    limit = current_app.config["CARILLON"].page_size
    return render(
        "failures/detail.html",
        fragment="failures/_members.html",
        line=line,
        group=line.group,
        page=read(session, failure_id, request.args.get("cursor"), limit),
        deeds=queries.deeds(session, failure_id),
        form=form,
        **_helpers(),
    )


def _helpers() -> dict[str, object]:
    return {
        "bars": pictures.bars,
        "in_words": pictures.sentence,
        "height": pictures.HEIGHT,
        "hours": standing.HOURS,
        "cap": standing.OPEN_MAX,
        "groups_cap": queries.GROUPS_MAX,
    }


def _give(state: BlueprintSetupState) -> None:
    """Let pages of single rows name what failed alike."""
    state.app.jinja_env.globals.update(failure_of=failure_of)


bp.record_once(_give)
