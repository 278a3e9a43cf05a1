"""Why did this not fire?  A record is searched; every rule says why, or why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from flask import Blueprint, current_app, request, url_for

from dashboard.congregations import queries as congregations
from dashboard.congregations.searching import HITS_MAX, search
from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.rules import queries as rule_queries
from dashboard.rules.sentences import sentence
from dashboard.web import render
from dashboard.why import queries
from dashboard.why.words import KIND_TITLES, words_about
from dashboard.zones import own_zone
from tasks.automation.entities import (
    KINDS,
    Kind,
    Record,
    find_record,
    kind_of,
    kinds_about,
    title_of,
)
from tasks.automation.explaining import Explanation, Link, explain
from tasks.automation.explaining.evidence import gather
from tasks.automation.explaining.parts import status_of
from tasks.clock import utcnow
from tasks.config import Config
from tasks.models import Congregation, Rule
from tasks.saying.formats import by_clock

bp = Blueprint("why", __name__, url_prefix="/why")

_TEXT_MAX: Final = 120  # characters of a search
#: Records of each kind that are offered before anything is searched.
_NEWEST: Final = 8


@bp.get("/")
def index() -> str:
    """Search a booking, an episode or a guest; ``?rule=`` asks about that rule."""
    session = db.session()
    rule_id = request.args.get("rule", type=UUID)
    rule = rule_queries.rule(session, rule_id).rule if rule_id else None
    text = clean(request.args.get("q"))[:_TEXT_MAX]
    kinds = kinds_about(rule.trigger_type) if rule else KINDS
    return render(
        "why/index.html",
        rule=rule,
        text=text,
        text_max=_TEXT_MAX,
        hits=search(session, text, kinds, rule, HITS_MAX if text else _NEWEST),
        hit_url=record_url,
        kinds=KIND_TITLES,
    )


@bp.get("/<slug>/bookings/<booking_id>")
def booking(slug: str, booking_id: str) -> str:
    """Say for each rule why it did something about a booking, or did not."""
    return _every_rule(slug, "booking", booking_id)


@bp.get("/<slug>/episodes/<episode_id>")
def episode(slug: str, episode_id: str) -> str:
    """Say for each rule why it did something about an episode, or did not."""
    return _every_rule(slug, "episode", episode_id)


@bp.get("/<slug>/guests/<guest_id>")
def guest(slug: str, guest_id: str) -> str:
    """Say for each rule why it did something about a guest, or did not."""
    return _every_rule(slug, "guest", guest_id)


@bp.get("/<slug>/bookings/<booking_id>/<uuid:rule_id>")
def rule_and_booking(slug: str, booking_id: str, rule_id: UUID) -> str:
    """Go step by step through what one rule made of a booking."""
    return _one_rule(slug, "booking", booking_id, rule_id)


@bp.get("/<slug>/episodes/<episode_id>/<uuid:rule_id>")
def rule_and_episode(slug: str, episode_id: str, rule_id: UUID) -> str:
    """Go step by step through what one rule made of an episode."""
    return _one_rule(slug, "episode", episode_id, rule_id)


@bp.get("/<slug>/guests/<guest_id>/<uuid:rule_id>")
def rule_and_guest(slug: str, guest_id: str, rule_id: UUID) -> str:
    """Go step by step through what one rule made of a guest."""
    return _one_rule(slug, "guest", guest_id, rule_id)


def record_url(slug: str, record: Record, rule: Rule | None = None) -> str:
    """Return the address at which a record, and one rule if given, is explained."""
    kind = kind_of(record)
    values: dict[str, Any] = {"slug": slug, f"{kind}_id": record.id}
    if rule is None:
        return url_for(f"why.{kind}", **values)
    return url_for(f"why.rule_and_{kind}", rule_id=str(rule.id), **values)


def _every_rule(slug: str, kind: Kind, id_: str) -> str:
    session = db.session()
    congregation = congregations.congregation(session, slug)
    record = find_record(session, kind, congregation.id, id_)
    limit = _config().page_size
    page = queries.rules_about(session, record, request.args.get("cursor"), limit)
    n_other = queries.n_other_rules(session, record)
    return render(
        "why/record.html",
        **_about(congregation, record),
        page=page,
        told=_told(record, page.rows),
        n_other=n_other,
        words=words_about(kind, n_other),
        status=status_of(record),
        has_event=queries.has_event(session, record),
        rule_url=record_url,
    )


def _one_rule(slug: str, kind: Kind, id_: str, rule_id: UUID) -> str:
    session = db.session()
    congregation = congregations.congregation(session, slug)
    record = find_record(session, kind, congregation.id, id_)
    rule = queries.rule_of(session, record, rule_id)
    [told] = _told(record, [rule])
    return render("why/rule.html", **_about(congregation, record), rule=rule, told=told)


def _told(record: Record, rules: Sequence[Rule]) -> list[Explanation]:
    now = utcnow()
    kept_since = now - _config().keep_settled
    session = db.session()
    facts = gather(session, record, rules, now=now, kept_since=kept_since)
    with by_clock(own_zone()):
        return [explain(each, now) for each in facts]


def _about(congregation: Congregation, record: Record) -> dict[str, Any]:
    kind = kind_of(record)
    values: dict[str, Any] = {"slug": congregation.slug, f"{kind}_id": record.id}
    return {
        "congregation": congregation,
        "record": record,
        "kind": kind,
        "title": title_of(record),
        "record_url": url_for(f"congregations.{kind}", **values),
        "all_url": url_for(f"why.{kind}", **values),
        "sentence": sentence,
        "link_url": _link_url,
    }


def _link_url(link: Link) -> str:
    match link.kind:
        case "event":
            return url_for("events.detail", event_id=link.id)
        case "execution":
            return url_for("executions.detail", execution_id=link.id)
        case "job":
            return url_for("scheduled.detail", job_id=link.id)


def _config() -> Config:
    config: Config = current_app.config["CARILLON"]
    return config
