"""Signed calls of booking services end in a mail; forged, old and odd ones do not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from tasks.assembly import make_bench
from tasks.config import Config
from tasks.db import sessions
from tasks.lane import Bench
from tasks.models import (
    Booking,
    CallOutcome,
    Episode,
    Execution,
    ExecutionState,
    Source,
    SourceCall,
    SourceKind,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.feeds import add_feed, look_now
from tasks.operations.sources import SourceChange, add_source
from tasks.outbound.guard import UrlRules
from tasks.registry import lane
from tasks.secrets import SecretBox
from tests.acceptance.conftest import Installation
from tests.support import booking_services as services
from tests.support import factories
from tests.support.feeds import Entry, rss
from tests.support.hook_sink import Reply

Call = Callable[..., TestResponse]
#: What the databases have no part in is tried on one of them.
on_sqlite = pytest.mark.parametrize("stack", ["sqlite"], indirect=True)
NOW = datetime.now(UTC)
MAKE: dict[SourceKind, Callable[..., dict[str, Any]]] = {
    SourceKind.CALCOM: services.cal_message,
    SourceKind.CALENDLY: services.calendly_message,
}


@pytest.fixture
def bench(installation: Installation) -> Bench:
    """Return what the lanes work with: the real mail server, the real network."""
    config = Config.from_environ(installation.environ)
    return make_bench(config, installation.engine)


@pytest.fixture(params=list(SourceKind), ids=str)
def kind(request: pytest.FixtureRequest) -> SourceKind:
    found: SourceKind = request.param
    return found


@pytest.fixture
def call(installation: Installation, kind: SourceKind) -> Call:
    """Return a way to call a source of the congregation, as the service does it."""
    config = Config.from_environ(installation.environ)
    with sessions(installation.engine).begin() as session:
        factories.rule(session, installation.tenant)
        source, _ = add_source(
            session,
            installation.tenant,
            "show",
            kind,
            SourceChange("Bookings", {}, only_listed=False),
            SYSTEM,
            box=SecretBox(config.secret_key),
            secret=services.SECRET,
        )
        path = f"/hooks/{source.token}"

    def make(
        *args: Any,
        secret: str = services.SECRET,
        sent_at: datetime | None = None,
        **changes: Any,
    ) -> TestResponse:
        message = MAKE[kind](*args, at=NOW, start=NOW + timedelta(days=3), **changes)
        body, headers = (
            services.signed_by_cal(message, secret)
            if kind is SourceKind.CALCOM
            else services.signed_by_calendly(
                message, sent_at or datetime.now(UTC), secret
            )
        )
        return installation.client.post(path, data=body, headers=headers)

    return make


def _sweep(bench: Bench, name: str) -> None:
    lane(name).sweep(bench, 50)


def _rows(installation: Installation, model: type[Any]) -> list[Any]:
    with sessions(installation.engine)() as session:
        return list(session.scalars(select(model)))


def test_a_signed_booking_ends_in_a_mail(
    installation: Installation, bench: Bench, call: Call
) -> None:
    answer = call()
    assert answer.status_code == 200, answer.text
    assert answer.get_json()["outcome"] == "applied"
    _sweep(bench, "executions")
    [mail] = installation.mails.wait_for(1)
    assert mail.subject == "Hello Zoë Lindqvist"
    [execution] = _rows(installation, Execution)
    assert execution.state is ExecutionState.SUCCEEDED

    assert call().get_json()["outcome"] == "unchanged"
    _sweep(bench, "executions")
    assert len(installation.mails.mails) == 1


def _nothing_came_of_it(
    installation: Installation, bench: Bench, outcome: CallOutcome
) -> None:
    _sweep(bench, "executions")
    assert installation.mails.mails == []
    assert _rows(installation, Booking) == []
    [kept] = _rows(installation, SourceCall)
    assert kept.outcome is outcome


@on_sqlite
def test_a_bad_signature_ends_in_nothing(
    installation: Installation, bench: Bench, call: Call
) -> None:
    answer = call(secret="somebody else's")
    assert answer.status_code == 401
    assert answer.get_json()["error"]["code"] == "signature_wrong"
    _nothing_came_of_it(installation, bench, CallOutcome.REFUSED)


@on_sqlite
@pytest.mark.parametrize("kind", [SourceKind.CALENDLY], indirect=True, ids=str)
def test_an_old_timestamp_ends_in_nothing(
    installation: Installation, bench: Bench, call: Call
) -> None:
    answer = call(sent_at=datetime.now(UTC) - timedelta(minutes=10))
    assert answer.status_code == 401
    assert answer.get_json()["error"]["code"] == "timestamp_old"
    _nothing_came_of_it(installation, bench, CallOutcome.REFUSED)


@on_sqlite
def test_an_unknown_event_is_taken_and_ends_in_nothing(
    installation: Installation, bench: Bench, call: Call
) -> None:
    answer = call("something.else")
    assert (answer.status_code, answer.get_json()["outcome"]) == (200, "ignored")
    _nothing_came_of_it(installation, bench, CallOutcome.IGNORED)


@on_sqlite
@pytest.mark.parametrize("kind", [SourceKind.CALCOM], indirect=True, ids=str)
def test_an_old_message_does_not_undo_a_newer_one(
    installation: Installation, bench: Bench, call: Call
) -> None:
    call()
    with sessions(installation.engine).begin() as session:
        source = session.scalars(select(Source)).one()
    old = services.cal_message("BOOKING_CANCELLED", at=NOW - timedelta(hours=1))
    body, headers = services.signed_by_cal(old)
    answer = installation.client.post(
        f"/hooks/{source.token}", data=body, headers=headers
    )
    assert (answer.status_code, answer.get_json()["outcome"]) == (200, "ignored")
    assert [row.status for row in _rows(installation, Booking)] == ["confirmed"]


def test_a_feed_that_gains_an_episode_ends_in_a_mail(
    installation: Installation, bench: Bench
) -> None:
    with sessions(installation.engine).begin() as session:
        factories.rule(
            session,
            installation.tenant,
            trigger_type="episode.published",
            settings={
                "recipient": "host",
                "address": "",
                "subject": "Out: {{ episode.title }}",
                "text": "{{ episode.description }}",
                "html": "",
            },
        )
        feed = add_feed(
            session,
            installation.tenant,
            "show",
            installation.hooks.url("/feed"),
            SYSTEM,
            rules=UrlRules.of(Config.from_environ(installation.environ)),
        )
    old = Entry("g-1", "First")
    installation.hooks.answer("/feed", Reply(body=rss([old])))
    _sweep(bench, "feeds")
    new = Entry("g-2", "Second", datetime.now(UTC) + timedelta(seconds=2))
    installation.hooks.answer("/feed", Reply(body=rss([new, old])))
    with sessions(installation.engine).begin() as session:
        look_now(session, feed.id, SYSTEM)
    _sweep(bench, "feeds")
    _sweep(bench, "executions")
    assert len(_rows(installation, Episode)) == 2
    [mail] = installation.mails.wait_for(1)
    assert mail.subject == "Out: Second"
