"""Writing rules: a form that adapts, first words, a preview on a real booking."""

from __future__ import annotations

from uuid import UUID

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.mail_frame import mail_frame
from dashboard.rules import filling, queries, samples
from dashboard.rules.choices import section_title, values_of
from dashboard.rules.foretelling import page_before_saving
from dashboard.rules.forms import RuleForm
from dashboard.rules.preview import Preview, preview_of
from dashboard.rules.scope import locale_of, places
from dashboard.rules.views import bp, replanned, secret_box, secret_page
from dashboard.security import actor, require
from dashboard.web import render
from tasks.automation.calendar import count_coming
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models import Rule, new_id
from tasks.operations import rules
from tasks.operations.rule_fields import NAME_MAX
from tasks.saying import say


@bp.get("/new")
@require("operator")
def new() -> str:
    """Show the form of a new rule; ``?copy=`` begins with what another rule does."""
    form = RuleForm(formdata=None)
    if copied := request.args.get("copy", type=UUID):
        form.show(queries.rule(db.session(), copied).rule)
        form.name.data = say("%(name)s (copy)", name=form.name.data)[:NAME_MAX]
        form.version.data = ""
        form.enabled.data = False  # two rules that do the same, by mistake
    form.rule_id.data = str(new_id())
    return _page(form, None, drafts=True)


@bp.post("/")
def create() -> ResponseReturnValue:
    """Add a rule."""
    form = RuleForm()
    place = form.place
    if not form.is_good() or place is None:
        return _page(form, None), 422
    try:
        if page := page_before_saving(form, None):
            return page
        saved = rules.create_rule(
            db.session(),
            place.congregation_id,
            form.change(),
            actor(),
            secret_box(),
            now=utcnow(),
            rule_id=form.chosen_id,
            enabled=form.enabled.data,
            also_coming=form.also_coming.data,
        )
    except rules.InvalidRule as refused:
        form.refuse(refused.problems)
        return _page(form, None), 422
    except Conflict:  # the form was sent twice
        db.session.rollback()
        return redirect(url_for(".detail", rule_id=form.chosen_id), 303)
    return _saved(saved, say("“%(name)s” is created.", name=saved.rule.name))


@bp.get("/<uuid:rule_id>/edit")
@require("operator")
def edit(rule_id: UUID) -> str:
    """Show the form of a rule that exists."""
    rule = queries.living(db.session(), rule_id)
    form = RuleForm(formdata=None)
    form.show(rule)
    return _page(form, rule)


@bp.post("/<uuid:rule_id>")
def update(rule_id: UUID) -> ResponseReturnValue:
    """Change a rule."""
    rule = queries.living(db.session(), rule_id)
    form = RuleForm()
    if not form.is_good():
        return _page(form, rule), 422
    try:
        if page := page_before_saving(form, rule):
            return page
        saved = rules.edit_rule(
            db.session(),
            rule_id,
            form.change(),
            actor(),
            secret_box(),
            now=utcnow(),
            version=form.seen_version,
            also_coming=form.also_coming.data,
        )
    except rules.InvalidRule as refused:
        form.refuse(refused.problems)
        return _page(form, rule), 422
    except Conflict as refused:
        db.session.rollback()
        form.refuse({"name": refused.message})
        return _page(form, queries.rule(db.session(), rule_id).rule), 409
    return _saved(
        saved, say("Saved.") if saved.changed else say("Nothing was changed.")
    )


@bp.post("/fields")
def fields() -> str:
    """Show the form anew for another trigger or action; nothing is saved."""
    form = RuleForm()
    form.arrange(request.form.get("arrange", ""))
    form.arrange_conditions(request.form.get("arrange", ""))
    if form.sample.data == samples.INVENTED:
        form.sample.data = None  # another place may have something real
    rule = _edited()
    return _page(form, rule, drafts=rule is None)


@bp.post("/preview")
def preview() -> str:
    """Show what the rule would send for a real booking, episode or guest."""
    form = RuleForm()
    return _page(form, _edited(), shown=preview_of(db.session(), form))


@bp.post("/preview/mail")
def preview_mail() -> Response:
    """Return the HTML of the mail, for the preview's frame."""
    shown = preview_of(db.session(), RuleForm())
    return mail_frame(shown.html)


def _page(
    form: RuleForm,
    rule: Rule | None,
    *,
    shown: Preview | None = None,
    drafts: bool = False,
) -> str:
    """Return the form, with drafts on wish; for htmx the preview or what adapts."""
    session = db.session()
    found = places(session, rule.congregation_id if rule else None)
    filling.offer_places(form, found)
    place, trigger = form.place, form.trigger
    if drafts:
        filling.write_draft(form, locale_of(found, place))
    if place and trigger:
        filling.offer_samples(form, samples.samples(session, place, trigger))
    return render(
        "rules/form.html",
        fragment="rules/_preview.html" if shown else "rules/_editor.html",
        form=form,
        rule=rule,
        trigger=trigger,
        shown=shown,
        has_places=bool(found),
        values=values_of(trigger) if trigger else {},
        section_title=section_title,
        n_coming=_n_coming(form),
    )


def _n_coming(form: RuleForm) -> int:
    place, trigger = form.place, form.trigger
    if place is None or trigger is None:
        return 0
    return count_coming(
        db.session(),
        place.congregation_id,
        place.podcast_ids,
        trigger.name,
        now=utcnow(),
    )


def _edited() -> Rule | None:
    rule_id = request.args.get("rule", type=UUID)
    return queries.living(db.session(), rule_id) if rule_id else None


def _saved(saved: rules.RuleSaved, words: str) -> ResponseReturnValue:
    db.session.commit()
    if saved.secret is not None:
        return secret_page(saved)
    flash(f"{words}{replanned(saved)}", "success")
    return redirect(url_for(".detail", rule_id=saved.rule.id), 303)
