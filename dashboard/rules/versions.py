"""A rule's versions: listed, compared, brought back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.extensions import db
from dashboard.paging import Page, paginate
from dashboard.rules import queries
from dashboard.rules.differences import Difference, differences
from dashboard.rules.foretelling import parts_of
from dashboard.rules.version_filter import KEYS, VersionFilter
from dashboard.rules.views import bp, config, replanned, secret_box, secret_page
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.web import render
from tasks.automation.impact import LOOKED_AT_MAX
from tasks.bulk import among
from tasks.clock import utcnow
from tasks.models import Podcast, RuleVersion
from tasks.operations import rules
from tasks.operations.rule_documents import document_of
from tasks.operations.rule_impact import impact_of_edit
from tasks.operations.rule_versions import find_version, said_in
from tasks.saying import mark, say

#: How versions came about, as the list says it.
_VERBS: Final = {
    "created": mark("Created"),
    "edited": mark("Edited"),
    "restored": mark("Restored"),
    "imported": mark("Imported"),
}


@bp.get("/<uuid:rule_id>/versions")
@explains("versions")
def versions(rule_id: UUID) -> str:
    """List a rule's versions; ``?a=`` and ``?b=`` compare two, or one with today's."""
    session = db.session()
    row = queries.rule(session, rule_id)
    form = VersionFilter.read(request.args.to_dict() | {"rule_id": str(rule_id)})
    a, b = (request.args.get(name, type=int) for name in ("a", "b"))
    compared = None
    if a is not None:
        b = row.rule.version if b is None else b
        compared = _compared(session, rule_id, a, b)
    return render(
        "rules/versions.html",
        rule=row.rule,
        page=_page(session, form),
        form=form,
        a=a,
        b=b,
        compared=compared,
        verbs=_VERBS,
    )


@bp.get("/<uuid:rule_id>/versions/<int:version>/restore")
@require("operator")
def restoring(rule_id: UUID, version: int) -> str:
    """Show what bringing a version back changes, and what becomes of the jobs."""
    session = db.session()
    rule = queries.living(session, rule_id)
    kept = find_version(session, rule_id, version)
    problem, impact, parts = "", None, []
    try:
        impact = impact_of_edit(session, rule_id, said_in(kept), now=utcnow())
        parts = parts_of(session, rule.congregation_id, impact)
    except rules.InvalidRule as refused:
        problem = refused.message
    both = document_of(rule), kept.document
    titles = titles_of(session, rule.congregation_id, both)
    return render(
        "rules/restore.html",
        rule=rule,
        version=kept,
        changes=differences(*both, titles),
        problem=problem,
        impact=impact,
        parts=parts,
        looked_at=LOOKED_AT_MAX,
    )


@bp.post("/<uuid:rule_id>/versions/<int:version>/restore")
def restore(rule_id: UUID, version: int) -> ResponseReturnValue:
    """Bring a version back, as a new one."""
    session = db.session()
    queries.living(session, rule_id)
    saved = rules.edit_rule(
        session,
        rule_id,
        said_in(find_version(session, rule_id, version)),
        actor(),
        secret_box(),
        now=utcnow(),
        version=request.form.get("seen", type=int),
        verb="restored",
    )
    db.session.commit()
    if saved.secret is not None:
        return secret_page(saved)
    words = (
        say("Version %(n)s is back.", n=str(version))
        if saved.changed
        else say("Nothing was changed.")
    )
    flash(f"{words}{replanned(saved)}", "success")
    return redirect(url_for(".detail", rule_id=rule_id), 303)


def _page(session: Session, form: VersionFilter) -> Page[RuleVersion]:
    statement = select(RuleVersion).where(*form.wanted(utcnow()))
    cursor = request.args.get("cursor")
    return paginate(session, statement, KEYS, cursor, config().page_size)


def _compared(session: Session, rule_id: UUID, a: int, b: int) -> list[Difference]:
    old, new = find_version(session, rule_id, a), find_version(session, rule_id, b)
    both = old.document, new.document
    return differences(*both, titles_of(session, old.congregation_id, both))


def titles_of(
    session: Session, congregation_id: UUID, documents: Iterable[Mapping[str, Any]]
) -> Mapping[str, str]:
    """Return the titles of the podcasts that documents of rules name, by their ids."""
    ids = {id_ for each in documents for id_ in each.get("podcast_ids") or ()}
    if not ids:
        return {}
    rows = session.execute(
        select(Podcast.id, Podcast.title).where(
            Podcast.congregation_id == congregation_id,
            among(session, Podcast.id, sorted(ids)),
        )
    )
    return {row.id: row.title for row in rows}
