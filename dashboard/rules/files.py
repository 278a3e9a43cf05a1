"""Rules as files: written out, and brought in after a look at what that would do."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final
from uuid import UUID

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.extensions import db
from dashboard.rules import queries
from dashboard.rules.differences import differences
from dashboard.rules.import_forms import ImportForm
from dashboard.rules.sentences import sentence
from dashboard.rules.versions import titles_of
from dashboard.rules.views import bp, secret_box
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models import Rule
from tasks.operations.rule_documents import document_of
from tasks.operations.rule_files import FILE_MAX, InvalidFile, read_file, write_file
from tasks.operations.rule_imports import Import, carry_out_import, plan_import
from tasks.operations.rules import RuleSaved, count_pending
from tasks.saying import say, say_many

#: What a request with a file may hold beside it, in bytes.
_BESIDE: Final = 65_536
_NO_NAME: Final = re.compile(r"[^a-z0-9]+")


@bp.url_value_preprocessor
def _make_room(endpoint: str | None, _values: object) -> None:
    """Let a file be as large as it may, before anybody reads the form."""
    if endpoint in {"rules.preview_import", "rules.save_import"}:
        request.max_content_length = FILE_MAX + _BESIDE
        request.max_form_memory_size = FILE_MAX + _BESIDE


@bp.get("/<uuid:rule_id>/export")
def export_one(rule_id: UUID) -> Response:
    """Write one rule to a file."""
    rule = queries.living(db.session(), rule_id)
    name = _NO_NAME.sub("-", rule.name.lower()).strip("-") or "rule"
    return _file([rule], f"{name}.yaml")


@bp.get("/export")
def export_all() -> Response:
    """Write the rules to a file; ``?congregation=`` those of one alone."""
    statement = select(Rule).where(Rule.deleted_at.is_(None))
    if of := request.args.get("congregation", type=UUID):
        statement = statement.where(Rule.congregation_id == of)
    in_order = statement.order_by(Rule.congregation_id, Rule.name, Rule.id)
    return _file(list(db.session().scalars(in_order)), "rules.yaml")


@bp.get("/import")
@require("operator")
def import_file() -> str:
    """Ask for a file."""
    return _ask(ImportForm.of(db.session(), formdata=False))


@bp.post("/import")
def preview_import() -> ResponseReturnValue:
    """Show what a file would do; nothing is saved."""
    session = db.session()
    form = ImportForm.of(session)
    if not form.is_good():
        return _ask(form), 422
    try:
        planned = _planned(session, form)
    except InvalidFile as refused:
        return _ask(form, refused), 422
    return _preview(session, form, planned)


@bp.post("/import/save")
def save_import() -> ResponseReturnValue:
    """Make and change the rules of a file that was looked at."""
    session = db.session()
    form = ImportForm.of(session)
    if not form.is_good():
        return _ask(form), 422
    try:
        planned = _planned(session, form)
        seen, on = form.seen.data or "", bool(form.switch_on.data)
        saved = carry_out_import(
            session,
            planned,
            actor(),
            secret_box(),
            now=utcnow(),
            seen=seen,
            switch_on=on,
        )
    except InvalidFile as refused:
        session.rollback()
        return _ask(form, refused), 422
    except Conflict as refused:
        session.rollback()
        planned = _planned(session, form)
        return _preview(session, form, planned, refused.message), 409
    db.session.commit()
    return _saved(saved)


def _planned(session: Session, form: ImportForm) -> Import:
    file = read_file(form.content)
    return plan_import(session, form.congregation_id, file, secret_box())


def _ask(form: ImportForm, refused: InvalidFile | None = None) -> str:
    problems = refused.problems if refused else ()
    return render("rules/import.html", form=form, problems=problems)


def _preview(
    session: Session, form: ImportForm, planned: Import, notice: str = ""
) -> str:
    compared = {
        each.rule.id: (document_of(each.rule), document_of(each.saved))
        for each in planned.arrivals
        if each.rule and each.verb == "change"
    }
    documents = chain.from_iterable(compared.values())
    titles = titles_of(session, planned.congregation_id, documents)
    form.seen.data = planned.fingerprint
    return render(
        "rules/import_preview.html",
        form=form,
        notice=notice,
        arrivals=planned.arrivals,
        n_new=sum(each.verb == "create" for each in planned.arrivals),
        n_changed=sum(each.verb == "change" for each in planned.arrivals),
        n_same=sum(each.verb == "same" for each in planned.arrivals),
        n_moving={
            each.rule.id: count_pending(session, each.rule.id)[0]
            for each in planned.arrivals
            if each.rule and each.moves
        },
        sentence=sentence,
        changes={
            id_: differences(before, after, titles)
            for id_, (before, after) in compared.items()
        },
    )


def _saved(saved: list[RuleSaved]) -> ResponseReturnValue:
    secrets = [each for each in saved if each.secret is not None]
    if secrets:
        return render("rules/imported.html", saved=saved, secrets=secrets)
    n = len(saved)
    words = say_many(n, "%(n)s rule imported.", "%(n)s rules imported.")
    flash(words if saved else say("Nothing to do."), "success")
    return redirect(url_for(".index"), 303)


def _file(rules: list[Rule], name: str) -> Response:
    answer = Response(write_file(rules), mimetype="application/yaml")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
