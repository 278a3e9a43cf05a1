"""Asking about many rows, then doing it: the same for every kind and every list.

The question shows the number.  It also carries the instant of the count and the id of
the operation to be, so that what came later is left alone, and a second press does
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.operations.shrinking import moved_on
from dashboard.operations.words import WORDS, Words
from dashboard.security import actor
from dashboard.selection import (
    confirmed_at,
    confirmed_id,
    confirmed_number,
    nothing_selected,
    selected,
)
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.models import ExecutionState, Operation, OperationKind, new_id
from tasks.models.base import Json
from tasks.operations.bulk import Bulk, refuse_many
from tasks.operations.kinds import KINDS, Asked, refused
from tasks.operations.many import change_few, change_ticked, n_meant, n_ticked
from tasks.operations.pieces import PIECE
from tasks.operations.seeing import find, is_begun
from tasks.operations.starting import WHY_MAX, start
from tasks.saying import say

_NO_ERRORS: Final[Mapping[str | None, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about, and where it came from."""

    kind: OperationKind
    back: str  # the list, or the row's page
    section: str  # the list's name
    matching: Json = field(default_factory=dict)

    @property
    def words(self) -> Words:
        """How the kind speaks."""
        return WORDS[self.kind]


def ask(question: Question) -> str:
    """Say how many rows match, and ask whether to do it."""
    return _ask(question, utcnow(), new_id())


def begin(question: Question) -> ResponseReturnValue:
    """Do what was confirmed: the few at once, the many as an operation."""
    session, now = db.session(), utcnow()
    high_water, id_, n_shown = confirmed_at(), confirmed_id(), confirmed_number()
    asked = Asked(question.kind, question.matching, high_water)
    if is_begun(session, id_):  # what it has left may be few by now
        return _watching(find(session, id_, actor()))
    is_simple = KINDS[question.kind].verb is not None
    if is_simple and n_meant(session, asked, PIECE + 1) <= PIECE:
        limit = min(n_shown or PIECE, PIECE)
        bulk = change_few(session, asked, actor(), now=now, limit=limit)
        return _done(question, bulk, n_shown)
    asked = replace(asked, is_again="again" in request.form)
    try:
        _refuse_number(asked)
        why = clean(request.form.get("why"))
        shown = None if asked.is_again else n_shown  # which is without those
        operation = start(session, id_, asked, actor(), why=why, n_shown=shown, now=now)
    except InvalidInput as problem:
        if problem.field is None:
            raise
        session.rollback()
        return _ask(question, high_water, id_, problem), 422
    db.session.commit()
    return _watching(operation)


def _watching(operation: Operation) -> ResponseReturnValue:
    return redirect(url_for("operations.detail", operation_id=operation.id), 303)


def ticked(question: Question) -> ResponseReturnValue:
    """Ask about the rows that were ticked, then change them at once."""
    session, ids = db.session(), selected()
    if not ids:
        return nothing_selected(question.back)
    if KINDS[question.kind].verb is None:
        return _ticked_operation(question, ids)
    if "confirmed" not in request.form:
        n = n_ticked(session, question.kind, ids)
        return _render(question, n=n, ids=ids)
    bulk = change_ticked(session, question.kind, ids, actor(), now=utcnow())
    return _done(question, bulk)


def _ticked_operation(question: Question, ids: Sequence[UUID]) -> ResponseReturnValue:
    """Ask about ticked rows, then begin the operation on them.

    Raises:
        InvalidInput: too many are ticked.
    """
    refuse_many(ids)
    question = replace(question, matching={"ids": [str(id_) for id_ in ids]})
    if "confirmed" in request.form:
        return begin(question)
    return _ask(question, utcnow(), new_id())


def _ask(
    question: Question,
    high_water: datetime,
    operation_id: UUID,
    problem: InvalidInput | None = None,
) -> str:
    session = db.session()
    asked = Asked(question.kind, question.matching, high_water)
    return _render(
        question,
        n=n_meant(session, asked),
        cannot=refused(session, asked),
        hidden=question.matching.get("ids", ()),
        n_sent=_n_sent(asked),
        high_water=high_water.isoformat(),
        operation_id=operation_id,
        errors={problem.field: problem.message} if problem else {},
    )


def _n_sent(asked: Asked) -> int:
    """Return how many rows were sent, and could be sent again; counted to the cap."""
    state = asked.matching.get("state", ExecutionState.SUCCEEDED)
    if asked.kind is not OperationKind.REPLAY_EXECUTIONS:
        return 0
    if state != ExecutionState.SUCCEEDED:
        return 0
    only = asked.matching | {"state": ExecutionState.SUCCEEDED.value}
    return n_meant(db.session(), replace(asked, matching=only, is_again=True))


def _refuse_number(asked: Asked) -> None:
    """Refuse to send many again unless their number was typed.

    Raises:
        InvalidInput: it was not, or it is another one by now.
    """
    if not asked.is_again:
        return
    n = _n_sent(asked)
    typed = "".join(filter(str.isdecimal, request.form.get("number", "")))
    if n > 1 and typed != str(n):
        raise InvalidInput(
            "wrong_number",
            say("Type %(n)s, the number of executions that are sent again.", n=str(n)),
            field="number",
        )


def _render(
    question: Question,
    *,
    n: int,
    ids: Collection[UUID] = (),
    hidden: Sequence[str] = (),
    cannot: Sequence[tuple[str, int]] = (),
    n_sent: int = 0,
    errors: Mapping[str | None, str] = _NO_ERRORS,
    **values: str | UUID,
) -> str:
    return render(
        "operations/ask.html",
        question=question,
        words=question.words,
        n=n,
        ids=ids,
        hidden=hidden or ids,
        cannot=cannot,
        given=request.form,
        n_sent=n_sent,
        errors=errors,
        high_water=values.get("high_water"),
        operation_id=values.get("operation_id"),
        cap=COUNT_CAP,
        piece=PIECE,
        why_max=WHY_MAX,
        is_simple=KINDS[question.kind].verb is not None,
    )


def _done(
    question: Question, bulk: Bulk, n_shown: int | None = None
) -> ResponseReturnValue:
    db.session.commit()
    words = question.words
    sentence = words.done(bulk.n_done)
    if bulk.n_skipped:
        sentence += f" {words.missed(bulk.n_skipped)}"
    if n_shown and (n := n_shown - bulk.n_done - bulk.n_skipped):
        sentence += f" {moved_on(n, n_shown, question.kind, question.matching)}"
    flash(sentence, "success" if bulk.n_done else "info")
    return redirect(question.back, 303)
