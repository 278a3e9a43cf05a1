"""What saving would do to the rule's jobs: a page between the form and the saving."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from flask import request
from sqlalchemy.orm import Session

from dashboard.extensions import db
from dashboard.filters import reason
from dashboard.rules.forms import RuleForm
from dashboard.web import render
from tasks.automation.impact import EXAMPLES, LOOKED_AT_MAX, Fate, Impact
from tasks.automation.records import by_key
from tasks.automation.zones import first_zone
from tasks.clock import utcnow
from tasks.models import Booking, Episode, Rule
from tasks.operations.rule_impact import impact_of_edit, impact_of_new
from tasks.saying import mark, say, say_many
from tasks.saying.formats import dated

#: The field that says that the operator has seen what will happen.
CONFIRMED: Final = "confirmed"
#: Fields of the request that the page's own form sends anew.
_NOT_KEPT: Final = frozenset({"csrf_token", CONFIRMED})
_NO_DATE: Final = mark("The changed rule does not act on it any more.")


@dataclass(frozen=True, slots=True)
class Line:
    """One job, as the page shows it."""

    who: str
    before: str  # local time; empty: there is no job yet
    after: str  # local time; empty: the job ends
    zone: str  # the timezone of these times
    why: str  # why it ends; empty: it does not


@dataclass(frozen=True, slots=True)
class Part:
    """All jobs that meet the same fate: how many, and the first few."""

    kind: str  # "created", "moved" or "ended"
    title: str
    n_jobs: int
    lines: Sequence[Line]


def page_before_saving(form: RuleForm, rule: Rule | None) -> str | None:
    """Return the page that says what saving does; None: save now.

    It comes only where a job would be made, moved or ended, and once.

    Raises:
        InvalidRule, NotFound, Conflict: as the saving would.
    """
    place = form.place
    if request.form.get(CONFIRMED) or place is None:
        return None
    session, now, also = db.session(), utcnow(), bool(form.also_coming.data)
    if rule is None:
        of, change = place.congregation_id, form.change()
        impact = impact_of_new(session, of, change, now=now, also_coming=also)
    else:
        seen = form.seen_version
        impact = impact_of_edit(
            session, rule.id, form.change(), now=now, version=seen, also_coming=also
        )
    if not impact.is_any:
        return None
    of = rule.congregation_id if rule else place.congregation_id
    return render(
        "rules/foretold.html",
        rule=rule,
        name=form.name.data,
        parts=parts_of(session, of, impact),
        impact=impact,
        looked_at=LOOKED_AT_MAX,
        kept=list(_kept()),
        confirmed=CONFIRMED,
    )


def parts_of(session: Session, congregation_id: UUID, impact: Impact) -> list[Part]:
    """Return the fates as the page shows them; three queries at most."""
    moved, made, ended = (
        len(fates) for fates in (impact.moved, impact.created, impact.ended)
    )
    found = {
        "moved": (say_many(moved, "%(n)s job moves", "%(n)s jobs move"), impact.moved),
        "created": (
            say_many(made, "%(n)s job is planned", "%(n)s jobs are planned"),
            impact.created,
        ),
        "ended": (
            say_many(ended, "%(n)s job is cancelled", "%(n)s jobs are cancelled"),
            impact.ended,
        ),
    }
    shown = [fate for _, fates in found.values() for fate in fates[:EXAMPLES]]
    names = _names(session, congregation_id, shown)
    return [
        Part(kind, title, len(fates), [_line(fate, names) for fate in fates[:EXAMPLES]])
        for kind, (title, fates) in found.items()
        if fates
    ]


def _kept() -> Iterator[tuple[str, str]]:
    for name, value in request.form.items(multi=True):
        if name not in _NOT_KEPT:
            yield name, value


def _names(
    session: Session, of: UUID, fates: Sequence[Fate]
) -> Mapping[tuple[str, str], str]:
    """Return whom or what the jobs are about, by kind and id."""
    bookings = {(of, fate.ids.booking_id) for fate in fates if fate.ids.booking_id}
    episodes = {(of, fate.ids.episode_id) for fate in fates if fate.ids.episode_id}
    return {
        **{
            ("booking", row.id): row.guest_name or row.guest_email or row.id
            for row in by_key(session, Booking, bookings).values()
        },
        **{
            ("episode", row.id): row.title
            for row in by_key(session, Episode, episodes).values()
        },
    }


def _line(fate: Fate, names: Mapping[tuple[str, str], str]) -> Line:
    ids = fate.ids
    if ids.booking_id:
        who = names.get(("booking", ids.booking_id), ids.booking_id)
    elif ids.episode_id:
        who = names.get(("episode", ids.episode_id), ids.episode_id)
    else:
        who = ids.podcast_id or ""
    before, after = (_local(at, fate.timezone) for at in (fate.before, fate.after))
    why = "" if fate.after else reason(fate.reason) or say(_NO_DATE)
    return Line(who, before, after, first_zone(fate.timezone), why)


def _local(at: datetime | None, timezone: str) -> str:
    if at is None:
        return ""
    there = at.astimezone(ZoneInfo(first_zone(timezone)))
    return dated(there, "EEE d MMM y, HH:mm")
