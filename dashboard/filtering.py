"""The filter above a list: it is the query string, so a filtered list is a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Final, Self
from uuid import UUID

from flask import request
from flask_wtf import FlaskForm
from sqlalchemy import select
from sqlalchemy.orm import Session
from wtforms import HiddenField, SearchField, SelectChoice, SelectField

from dashboard.filter_fields import MomentField, Select, by_own_clock, clean
from dashboard.search.reading import (
    Search,
    congregation_meant,
    read_search,
    rule_meant,
)
from dashboard.search.searched import Searched
from tasks.errors import InvalidInput
from tasks.models import Congregation, Podcast, Rule
from tasks.operations.matching import Matching
from tasks.saying import later, meant, say
from tasks.search import work

#: Entries that one choice of a filter offers at most.
CHOICES_MAX: Final = 200
#: Waiting for so long past its time is late; a busy second is not.
LATE_AFTER: Final = work.LATE_AFTER
#: No congregation has this id.
_NOWHERE: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the operator may filter by, by name."""

    congregations: Sequence[tuple[str, str]]  # slug, name
    rules: Sequence[tuple[UUID, str]]  # id, name
    podcasts: Sequence[tuple[str, str, str]]  # congregation's slug, id, title


#: Where the filter is read, but not shown.
NO_CHOICES: Final = Choices((), (), ())


def choices(session: Session) -> Choices:
    """Return what the session sees, at most ``CHOICES_MAX`` of each; three queries."""
    congregations = session.execute(
        select(Congregation.slug, Congregation.name)
        .order_by(Congregation.name)
        .limit(CHOICES_MAX)
    )
    rules = session.execute(
        select(Rule.id, Rule.name).order_by(Rule.name, Rule.id).limit(CHOICES_MAX)
    )
    podcasts = session.execute(
        select(Congregation.slug, Podcast.id, Podcast.title)
        .join(Congregation, Congregation.id == Podcast.congregation_id)
        .order_by(Podcast.title, Podcast.id)
        .limit(CHOICES_MAX)
    )
    return Choices(
        [(row[0], row[1]) for row in congregations],
        [(row[0], row[1]) for row in rules],
        [(row[0], row[1], row[2]) for row in podcasts],
    )


class ListFilter(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What narrows a list; subclasses say which one, and which states there are."""

    searched: ClassVar[Searched]
    search: Search
    offered: Choices

    class Meta:
        """Filters change nothing, so they need no token."""

        csrf = False

    q = SearchField(later("Search"), filters=[clean])
    rule = SelectField(later("Rule"), validate_choice=False, widget=Select())
    podcast = SelectField(later("Podcast"), validate_choice=False, widget=Select())
    within = SelectField(later("Congregation"), validate_choice=False, widget=Select())
    since = MomentField(by_own_clock(later(meant("a time", "From"))))
    until = MomentField(by_own_clock(later(meant("a time", "Until"))))
    state = HiddenField(filters=[clean])
    booking = HiddenField(filters=[clean])
    event = HiddenField(filters=[clean])
    late = HiddenField(filters=[clean])
    newest = MomentField()  # asked by the page itself, when it looks for newer rows

    @classmethod
    def read(cls, offered: Choices, args: Mapping[str, Any] | None = None) -> Self:
        """Return the filter of this request's query string, or of other values.

        Raises:
            InvalidInput: ``bad_search``; or ``bad_filter``, the address was changed by
                hand and cannot be read: acting on a filter that was half understood
                would be worse.
        """
        search = read_search(cls.searched, cls, request.args if args is None else args)
        form = cls(search.given)
        form.search = search
        form.offer(offered)
        if not form.validate():
            name, errors = next(iter(form.errors.items()))
            raise _bad(name, str(errors[0]))
        return form

    def offer(self, offered: Choices) -> None:
        """Say what may be chosen."""
        self.offered = offered
        self.rule.choices = [
            SelectChoice("", say(meant("a rule", "Any"))),
            *(SelectChoice(str(id_), name) for id_, name in offered.rules),
        ]
        self.podcast.choices = [
            SelectChoice("", say("Any")),
            *(
                SelectChoice(f"{slug}/{id_}", title)
                for slug, id_, title in offered.podcasts
            ),
        ]
        self.within.choices = [
            SelectChoice("", say(meant("a congregation", "Any"))),
            *(SelectChoice(slug, name) for slug, name in offered.congregations),
        ]

    def matching(self, session: Session, now: datetime) -> Matching:
        """Return the filter in the engine's words.

        Raises:
            InvalidInput: ``bad_filter``.
        """
        slug, podcast = self._podcast()
        query = self.search.settled(now)
        rule_id = _id("rule", self.rule.data)
        if rule_id is None:
            rule_id, query = rule_meant(session, query)
        congregation_id = self._congregation(session, slug)
        if congregation_id is None:
            congregation_id, query = congregation_meant(session, query)
        return Matching(
            state=self.state.data or None,
            rule_id=rule_id,
            congregation_id=congregation_id,
            podcast_id=podcast,
            booking_id=self.booking.data or None,
            event_id=_id("event", self.event.data),
            text=query.text,
            query=str(replace(query, text="")),
            since=self.since.data,
            until=self.until.data,
            late_before=now - LATE_AFTER if self.late.data else None,
        )

    def listed(self, session: Session, now: datetime) -> Matching:
        """Return the filter for a list, which stays where a place in it fits nothing.

        The place's field says what is wrong, and nothing matches.  Verbs and exports
        ask ``matching``, which refuses.

        Raises:
            InvalidInput: ``bad_filter``.
        """
        try:
            return self.matching(session, now)
        except _WrongPlace as wrong:
            self[wrong.field].errors = [wrong.hint]
            return Matching(congregation_id=_NOWHERE)

    def query(self, **changes: str | None) -> dict[str, Any]:
        """Return the query string's values, without those that say nothing."""
        return self.search.params(**changes)

    @property
    def is_narrow(self) -> bool:
        """Whether anything but the state narrows the list."""
        return bool(self.query(state=None))

    def _podcast(self) -> tuple[str, str | None]:
        """Return whose podcast is meant, and its id, which others may have as well."""
        slug, _, podcast = clean(self.podcast.data).rpartition("/")
        within = clean(self.within.data)
        if podcast and not (slug or within):
            raise _bad(
                "podcast",
                say("must name its congregation, as in st-mary/%(id)s", id=podcast),
            )
        if slug and within not in ("", slug):
            raise _WrongPlace(
                "podcast",
                say(
                    "is of another congregation than the chosen one; leave one of the "
                    "two out"
                ),
                say("It belongs to another congregation; leave one of the two out."),
            )
        return slug, podcast or None

    def _congregation(self, session: Session, of_podcast: str) -> UUID | None:
        slug = clean(self.within.data) or of_podcast
        if not slug:
            return None
        found = session.scalar(select(Congregation.id).where(Congregation.slug == slug))
        if found is None:
            raise _WrongPlace(
                "podcast" if of_podcast else "within",
                say("names no congregation that you can see"),
                say(
                    "It is not of the congregation that is chosen for the console, or "
                    "does not exist."
                )
                if of_podcast
                else say(
                    "It is not the congregation that is chosen for the console, or "
                    "does not exist."
                ),
            )
        return found


def _id(name: str, text: Any) -> UUID | None:  # noqa: ANN401  # WTForms has no types
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise _bad(name, say("must be an id")) from error


def _bad(name: str, problem: str) -> InvalidInput:
    return InvalidInput("bad_filter", _unread(name, problem), field=name)


def _unread(name: str, problem: str) -> str:
    return say(
        "The filter in this address cannot be read: “%(name)s” %(problem)s.",
        name=name,
        problem=problem,
    )


class _WrongPlace(InvalidInput):
    """A filter asks for a place that is not within the other one, or is not seen."""

    def __init__(self, name: str, problem: str, hint: str) -> None:
        super().__init__("bad_filter", _unread(name, problem), field=name)
        self.hint = hint  # for who looks at the field
