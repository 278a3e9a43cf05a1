"""Deliveries: the list, and one delivery with its attempts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from flask import flash, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import Form, SearchField, SelectChoice, SelectField

from dashboard.back import back
from dashboard.deeds import deeds
from dashboard.extensions import db
from dashboard.filter_fields import MomentField, by_own_clock, clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.reading import Search, read_search
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.states import LOOKS
from dashboard.web import render
from dashboard.webhooks import deliveries as rows
from dashboard.webhooks import queries
from dashboard.webhooks.views import bp, config
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.lane import COUNT_CAP
from tasks.models import DeliveryState, OperationKind
from tasks.operations.deliveries import DeliveryMatching
from tasks.operations.kinds import Asked
from tasks.operations.many import n_meant
from tasks.operations.single import Answer
from tasks.saying import later, mark, meant, say
from tasks.webhooks.filters import EVENT_TYPES
from tasks.webhooks.messages import TEST_TYPE
from tasks.webhooks.replays import retry_delivery
from tasks.webhooks.switching import name_of

_K = OperationKind
_ANY: Final = SelectChoice("", later("Any"))
#: What deliveries tell of -> what operators read.
TITLES: Final = {**EVENT_TYPES, TEST_TYPE: mark("Test")}


class DeliveryFilter(Form):  # type: ignore[misc]  # WTForms has no types
    """Which deliveries to list; it reads the address, so a filtered list is a link."""

    search: Search
    q = SearchField(later("Search"), filters=[clean])
    state = SelectField(
        later("State"),
        choices=[
            _ANY,
            *(SelectChoice(s.value, later(LOOKS[s].label)) for s in DeliveryState),
        ],
        default="",
    )
    type = SelectField(
        later("Event"),
        choices=[
            _ANY,
            *(SelectChoice(name, later(title)) for name, title in TITLES.items()),
        ],
        default="",
    )
    to = SelectField(later("Endpoint"), default="")
    since = MomentField(by_own_clock(later(meant("a time", "From"))))
    until = MomentField(by_own_clock(later(meant("a time", "Until"))))

    @classmethod
    def read(cls, session: Session, args: Mapping[str, Any]) -> DeliveryFilter:
        """Return the filter that an address's values say.

        Raises:
            InvalidInput: ``bad_search``.
        """
        search = read_search(SEARCHED["deliveries"], cls, args)
        form = cls(search.given)
        form.search = search
        form.to.choices = [
            _ANY,
            *(SelectChoice(str(id_), name) for id_, name in queries.choices(session)),
        ]
        form.validate()
        return form

    def wanted(self, now: datetime) -> DeliveryMatching:
        """Return what is asked for; a field with an error does not count."""
        query = self.search.settled(now)
        of = self._value("to")
        return DeliveryMatching(
            state=self._value("state") or "",
            type=self._value("type") or "",
            endpoint_id=UUID(of) if of else None,
            since=self._value("since"),
            until=self._value("until"),
            text=query.text,
            query=str(replace(query, text="")),
        )

    def _value(self, name: str) -> Any:  # noqa: ANN401  # WTForms has no types
        field = self[name]
        return None if field.errors else field.data


@bp.get("/deliveries")
@explains("deliveries")
def deliveries() -> str:
    """List deliveries, newest first."""
    session = db.session()
    form = DeliveryFilter.read(session, request.args)
    now = utcnow()
    wanted = form.wanted(now)
    page = rows.deliveries(
        session, wanted, request.args.get("cursor"), config().page_size
    )
    return render(
        "webhooks/deliveries.html",
        form=form,
        page=page,
        is_filtered=wanted != DeliveryMatching(),
        n_again=n_meant(session, Asked(_K.RETRY_DELIVERIES, wanted.as_json(), now)),
        cap=COUNT_CAP,
        titles=TITLES,
        name_of=name_of,
    )


@bp.get("/deliveries/<uuid:delivery_id>")
def delivery(delivery_id: UUID) -> str:
    """Show one delivery: what was sent, and what came back, try by try."""
    session = db.session()
    row = rows.delivery(session, delivery_id)
    message = rows.message(session, row.delivery.message_id)
    return render(
        "webhooks/delivery.html",
        row=row,
        delivery=row.delivery,
        endpoint=row.endpoint,
        name=name_of(row.endpoint),
        title=say(TITLES.get(row.delivery.type, row.delivery.type)),
        message=message,
        body=json.dumps(json.loads(message.body), indent=2, ensure_ascii=False),
        attempts=rows.attempts(session, delivery_id),
        deeds=deeds(session, "delivery", row.delivery),
    )


@bp.post("/deliveries/<uuid:delivery_id>/retry")
def retry(delivery_id: UUID) -> ResponseReturnValue:
    """Send one delivery again."""
    try:
        answer = retry_delivery(db.session(), delivery_id, actor(), utcnow())
    except Conflict as refused:
        db.session.rollback()
        flash(refused.message, "warning")
        return back(".delivery", delivery_id=delivery_id)
    db.session.commit()
    if answer is Answer.DONE:
        flash(say("It is sent again, with the same id and body."), "success")
    else:
        flash(say("It is on its way already."), "info")
    return back(".delivery", delivery_id=delivery_id)
