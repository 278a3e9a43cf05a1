"""Trying a rule on a real record, and sending a test of it to oneself."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import UUID

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from dashboard.congregations.podcast_views import wall_clock
from dashboard.congregations.searching import search
from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.mail_frame import mail_frame
from dashboard.operators.models import Operator
from dashboard.rules import queries
from dashboard.rules.sentences import sentence
from dashboard.rules.trials import StepTrial, try_rule
from dashboard.rules.views import bp, config
from dashboard.security import actor, current_operator
from dashboard.web import render
from tasks.automation.actions import ACTIONS, make_effects
from tasks.automation.actions.base import Done, Effects, Envelope, Outcome
from tasks.automation.entities import (
    KINDS,
    Kind,
    Record,
    find_record,
    kind_of,
    kinds_about,
    title_of,
)
from tasks.automation.steps import secret_of
from tasks.clock import utcnow
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Rule, new_id
from tasks.operations.rule_tests import TESTED, as_test, ask_test
from tasks.outbound.mail import SmtpMailer
from tasks.saying import mark, say

#: An operator waits for the mail server's answer.
_MAIL_SECONDS: Final = 15.0
_TEXT_MAX: Final = 120
_HITS: Final = 8
#: What the kinds of records are called.
_KINDS: Final = {
    "booking": mark("Booking"),
    "episode": mark("Episode"),
    "guest": mark("Guest"),
}


@bp.get("/<uuid:rule_id>/try")
def try_it(rule_id: UUID) -> str:
    """Show what a rule would do for a record; nothing is sent and nothing written."""
    session = db.session()
    rule = queries.rule(session, rule_id).rule
    text = clean(request.args.get("q"))[:_TEXT_MAX]
    kinds = kinds_about(rule.trigger_type)
    record = _record(rule) if "record" in request.args else None
    return render(
        "rules/try.html",
        rule=rule,
        sentence=sentence(rule),
        text=text,
        text_max=_TEXT_MAX,
        hits=search(session, text, kinds, rule, _HITS),
        record=record,
        title=title_of(record) if record else "",
        token=_token(record) if record else "",
        trial=try_rule(session, rule, record, now=utcnow()) if record else None,
        token_of=_token,
        tested=TESTED,
        kinds=_KINDS,
        local=wall_clock,
    )


@bp.get("/<uuid:rule_id>/try/mail")
def try_mail(rule_id: UUID) -> Response:
    """Return the HTML of a step's mail, for the frame on the page."""
    rule = queries.rule(db.session(), rule_id).rule
    if "record" not in request.args:
        return mail_frame("")
    return mail_frame(_step(rule, _record(rule)).html)


@bp.post("/<uuid:rule_id>/try/send")
def try_send(rule_id: UUID) -> ResponseReturnValue:
    """Send a test of one step: a mail to the operator alone, marked as a test."""
    session, operator = db.session(), current_operator()
    rule = queries.living(session, rule_id)
    record = _record(rule)
    made = _step(rule, record)
    here = url_for(".try_it", rule_id=rule_id, record=_token(record))
    if made.message is None:
        problem = made.problem
        flash(say("There is nothing to send: %(problem)s", problem=problem), "warning")
        return redirect(here, 303)
    # Locked, so that two presses at once are counted one after the other.
    session.execute(select(Operator.id).filter_by(id=operator.id).with_for_update())
    try:
        ask_test(session, rule, made.step.action, title_of(record), actor(), utcnow())
    except Conflict as refused:
        session.rollback()
        flash(refused.message, "warning")
        return redirect(here, 303)
    message = as_test(made.step.action, made.message, rule, operator.email)
    envelope = Envelope(
        new_id(), rule.congregation_id, secret_of(rule, made.step.number)
    )
    db.session.commit()
    # Nothing is open while the message leaves the house.
    outcome = ACTIONS[made.step.action].act(message, envelope, _effects())
    _tell(outcome, made, operator.email)
    return redirect(here, 303)


def _tell(outcome: Outcome, made: StepTrial, address: str) -> None:
    if isinstance(outcome, Done):
        is_mail = made.step.action == "email"
        to = address if is_mail else say(TESTED[made.step.action])
        flash(say("The test was sent to %(to)s.", to=to), "success")
    else:
        why = outcome.error
        flash(say("The test could not be sent: %(error)s", error=why), "danger")


def _effects() -> Effects:
    effects = make_effects(config())
    if isinstance(effects.mailer, SmtpMailer):
        mailer = replace(effects.mailer, total_seconds=_MAIL_SECONDS)
        return replace(effects, mailer=mailer)
    return effects


def _step(rule: Rule, record: Record) -> StepTrial:
    number = request.values.get("step", default=0, type=int)
    trial = try_rule(db.session(), rule, record, now=utcnow())
    for each in trial.steps:
        if each.step.number == number:
            return each
    raise NotFound("unknown_step", say("The rule has no such step any more."))


def _record(rule: Rule) -> Record:
    """Return the record that the request names, as ``booking/b1``.

    Raises:
        InvalidInput: it names none.
        NotFound: there is none in the rule's congregation.
    """
    word, _, id_ = request.values.get("record", "").partition("/")
    kinds: dict[str, Kind] = {kind: kind for kind in KINDS}
    if word not in kinds:
        raise InvalidInput(
            "bad_record", say("Choose a booking, an episode or a guest first.")
        )
    return find_record(db.session(), kinds[word], rule.congregation_id, id_)


def _token(record: Record) -> str:
    return f"{kind_of(record)}/{record.id}"
