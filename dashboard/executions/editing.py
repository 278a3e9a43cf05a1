"""Editing a mail for one time: the words, a look at what changes, then another try."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.executions.views import bp
from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.rules.differences import differences
from dashboard.security import actor, require
from dashboard.selection import confirmed_id
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import Conflict, InvalidInput
from tasks.models import ExecutionState, new_id
from tasks.models.base import Json
from tasks.operations.editing import (
    PARTS,
    SUBJECT_MAX,
    TEXT_MAX,
    Edited,
    edit,
    editable,
    send_edited,
)
from tasks.operations.starting import WHY_MAX, refuse_reason
from tasks.saying import say


@bp.get("/<uuid:execution_id>/edit")
@require("operator")
def ask_edit(execution_id: UUID) -> ResponseReturnValue:
    """Show the mail as it was made, to be edited for one time."""
    try:
        row, message = editable(db.session(), execution_id)
    except Conflict as refused:
        return _refused(refused, execution_id)
    return _form(execution_id, row.state, message, message)


@bp.post("/<uuid:execution_id>/edit")
def edit_and_retry(execution_id: UUID) -> ResponseReturnValue:
    """Show what the edit changes; once that is confirmed, send it."""
    session, given = db.session(), _given()
    try:
        row, message = editable(session, execution_id)
    except Conflict as refused:
        return _refused(refused, execution_id)
    edited, why = Edited(**given), clean(request.form.get("why"))
    try:
        new, _ = edit(message, edited)
        refuse_reason(why, is_again=True)
    except InvalidInput as refused:
        return _form(execution_id, row.state, message, given, refused), 422
    if "confirmed" not in request.form:
        return _review(execution_id, row.state, message, new, why)
    made = send_edited(
        session,
        execution_id,
        edited,
        actor(),
        operation_id=confirmed_id(),
        why=why,
        now=utcnow(),
    )
    db.session.commit()
    flash(say("Queued with your words. The earlier one keeps its history."), "success")
    return redirect(url_for(".detail", execution_id=made), 303)


def _given() -> dict[str, str]:
    return {name: request.form.get(name, "")[: 2 * TEXT_MAX] for name in PARTS}


def _form(
    execution_id: UUID,
    state: ExecutionState,
    message: Json,
    given: Json,
    refused: InvalidInput | None = None,
) -> str:
    return render(
        "executions/edit.html",
        execution_id=execution_id,
        was_sent=state is ExecutionState.SUCCEEDED,
        has_html=bool(message.get("html")),
        given=given,
        why=request.form.get("why", ""),
        errors={refused.field or "text": refused.message} if refused else {},
        subject_max=SUBJECT_MAX,
        text_max=TEXT_MAX,
        why_max=WHY_MAX,
    )


def _review(
    execution_id: UUID, state: ExecutionState, message: Json, new: Json, why: str
) -> str:
    before, after = (
        {name: str(mail.get(name) or "") for name in PARTS} for mail in (message, new)
    )
    return render(
        "executions/edit_review.html",
        execution_id=execution_id,
        was_sent=state is ExecutionState.SUCCEEDED,
        loses_html=bool(message.get("html")) and not new.get("html"),
        changes=differences(before, after),
        after=after,
        why=why,
        operation_id=new_id(),
    )


def _refused(refused: Conflict, execution_id: UUID) -> ResponseReturnValue:
    db.session.rollback()
    flash(refused.message, "warning")
    return redirect(url_for(".detail", execution_id=execution_id), 303)
