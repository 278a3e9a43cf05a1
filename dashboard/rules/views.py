"""The rules: listed, looked at, switched, deleted."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.back import back
from dashboard.budgets import queries as budgets
from dashboard.charts import panel, series
from dashboard.extensions import db
from dashboard.filters import plural
from dashboard.rules import history, queries, switching
from dashboard.rules.fate import SPAN, fate
from dashboard.rules.filters import RuleFilterForm
from dashboard.rules.limits import limits, looped_at
from dashboard.rules.oldest import oldest_waiting
from dashboard.rules.scope import applies_to, places
from dashboard.rules.sentences import later, sentence, timing
from dashboard.rules.step_sentences import followed
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.tallies import capped
from dashboard.web import render
from tasks.automation.calendar import count_coming
from tasks.automation.triggers import TRIGGERS
from tasks.clock import utcnow
from tasks.config import Config
from tasks.lane import COUNT_CAP
from tasks.operations import rules
from tasks.operations.rule_rows import RuleSaved
from tasks.saying import say, say_many
from tasks.secrets import SecretBox

bp = Blueprint("rules", __name__, url_prefix="/rules")
bp.add_app_template_filter(applies_to)
bp.add_app_template_global(queries.failed_query)


@bp.get("/")
@explains("rules")
def index() -> str:
    """List the rules by name."""
    session, now = db.session(), utcnow()
    found = places(session)
    form = RuleFilterForm.read(request.args, is_strict=False)
    form.offer(found)
    wanted, cursor = form.wanted(now), request.args.get("cursor")
    page = queries.rules(session, wanted, cursor, config().page_size)
    return render(
        "rules/list.html",
        form=form,
        page=page,
        counts=queries.counts(session, [row.rule.id for row in page.rows], now),
        counted_max=queries.COUNTED_MAX,
        week_ago=now - queries.WEEK,
        sentence=sentence,
        has_congregations=bool(found),
    )


@bp.get("/<uuid:rule_id>")
def detail(rule_id: UUID) -> str:
    """Show what a rule does, what it did, and what it is about to do."""
    session, now = db.session(), utcnow()
    row = queries.rule(session, rule_id)
    waiting = rules.count_pending(session, rule_id)
    n_jobs, n_executions = (capped(n, COUNT_CAP) for n in waiting)
    noes = history.recent_noes(session, rule_id)
    jobs = history.coming_jobs(session, rule_id)
    return render(
        "rules/detail.html",
        row=row,
        rule=row.rule,
        sentence=sentence(row.rule),
        timing=timing(row.rule),
        later=later(row.rule),
        trigger=TRIGGERS.get(row.rule.trigger_type),
        counts=queries.counts(session, [rule_id], now).get(rule_id, queries.Counts()),
        counted_max=queries.COUNTED_MAX,
        day_ago=now - queries.DAY,
        week_ago=now - queries.WEEK,
        month_ago=now - SPAN,
        n_jobs=n_jobs,
        n_outdated=history.n_outdated(session, row.rule),
        n_executions=n_executions,
        n_coming=count_coming(
            session,
            row.rule.congregation_id,
            row.rule.podcast_ids,
            row.rule.trigger_type,
            now=now,
        ),
        fate=fate(session, rule_id, now=now),
        executions=history.recent_executions(session, rule_id),
        jobs=jobs,
        oldest=oldest_waiting(session, rule_id, [job for job, _ in jobs], now),
        noes=noes,
        looped_at=looped_at(noes, now),
        limits=limits(session, row.rule, now),
        **budgets.of_rule(session, rule_id, now),
        **panel.values(series.of_rule(session, rule_id, panel.asked_period(), now)),
    )


@bp.get("/<uuid:rule_id>/switch-on")
@require("operator")
def ask_switch_on(rule_id: UUID) -> str:
    """Say what is overdue of a rule, and ask what is to become of it."""
    return switching.ask(rule_id, utcnow())


@bp.post("/<uuid:rule_id>/<any(enable, disable):verb>")
def switch(rule_id: UUID, verb: str) -> ResponseReturnValue:
    """Switch a rule on or off; ``?coming=1`` plans what is in the calendar, too."""
    session, now = db.session(), utcnow()
    if verb == "enable":
        saved = switching.enable(rule_id, now)
        if not isinstance(saved, RuleSaved):
            return saved
        words = say("“%(name)s” is switched on.", name=saved.rule.name)
        flash(f"{words}{replanned(saved)}", "success")
    else:
        saved = rules.disable_rule(session, rule_id, actor(), now=now)
        flash(
            say(
                "“%(name)s” is switched off. What is pending stays, and is skipped if "
                "its time comes while the rule is off.",
                name=saved.rule.name,
            ),
            "success",
        )
    db.session.commit()
    if request.args.get("coming"):  # there is nothing more to plan where it came from
        return redirect(url_for(".detail", rule_id=rule_id), 303)
    return back(".detail", rule_id=rule_id)


@bp.post("/<uuid:rule_id>/delete")
def delete(rule_id: UUID) -> ResponseReturnValue:
    """Delete a rule and cancel what is pending."""
    gone = rules.delete_rule(db.session(), rule_id, actor(), now=utcnow())
    db.session.commit()
    flash(
        say(
            "“%(name)s” is deleted; %(jobs)s and %(executions)s are cancelled.",
            name=gone.rule.name,
            jobs=plural(gone.n_jobs, "scheduled job"),
            executions=plural(gone.n_executions, "execution"),
        ),
        "success",
    )
    return redirect(url_for(".index"), 303)


@bp.post("/<uuid:rule_id>/secret")
@require("admin")
def rotate(rule_id: UUID) -> ResponseReturnValue:
    """Replace the signing secret and show the new one, once."""
    saved = rules.rotate_secret(db.session(), rule_id, actor(), secret_box())
    db.session.commit()
    return secret_page(saved)


def secret_page(saved: rules.RuleSaved) -> str:
    """Return the page that shows a signing secret; nothing shows it again."""
    return render("rules/secret.html", rule=saved.rule, secret=saved.secret)


def config() -> Config:
    """Return the settings of this installation."""
    settings: Config = current_app.config["CARILLON"]
    return settings


def secret_box() -> SecretBox:
    """Return what seals the rules' signing secrets."""
    return SecretBox(config().secret_key)


def replanned(saved: rules.RuleSaved) -> str:
    """Return what became of the rule's jobs and steps, as the end of a notice."""
    return _planned(saved) + followed(saved.stepped)


def _planned(saved: rules.RuleSaved) -> str:
    if saved.replanned.is_later:
        return " " + say("Its many jobs are being planned in the background.")
    made, ended = saved.replanned.n_created, saved.replanned.n_cancelled
    if ended:
        return " " + say_many(
            ended,
            "%(n)s job planned anew, %(made)s of them still ahead.",
            "%(n)s jobs planned anew, %(made)s of them still ahead.",
            made=str(made),
        )
    if not made:
        return ""
    return " " + say_many(made, "%(n)s job planned.", "%(n)s jobs planned.")
