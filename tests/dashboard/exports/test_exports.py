"""Exports: the whole of a filtered list, harmless in a spreadsheet, and audited."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from dashboard.executions import lines
from dashboard.exports import columns
from dashboard.exports.files import as_csv, as_json
from dashboard.exports.reading import Reading
from dashboard.exports.source import Source
from dashboard.search.kinds import SEARCHED
from dashboard.search.reading import Search
from tasks.db import Scope
from tasks.models import (
    Account,
    AuditEntry,
    Digest,
    DigestMail,
    Event,
    Execution,
    ExecutionState,
    LaneRun,
    LaneTrigger,
    Member,
    Operation,
    Rule,
    SuppressionReason,
    new_id,
)
from tasks.operations.audit import SYSTEM, Actor
from tasks.operations.suppressions import suppress
from tasks.search.parsing import Query
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import engagement
from tests.support.webhooks import webhooks

EVIL = ("=1+1", "+49 30 1", "-x", "@SUM(A1)", "\tx", "\rx", " =2", "＝3")
N = 520  # more than one batch


@pytest.fixture
def here(sqlite_engine: Engine) -> UUID:
    """Return a congregation with many executions, a job, an event, a delivery."""
    with Session(sqlite_engine) as session, session.begin():
        of = factories.congregation(session)
        factories.booking(session, of, guest_name="=cmd()")
        rule = factories.rule(session, of, name="Welcome")
        failed = {"state": ExecutionState.FAILED, "recipient": "+49 30 1"}
        context = {"guest": {"access_token": "s3cret"}}
        factories.execution(session, rule, **failed, error="-1", context=context)
        factories.job(session, factories.reminder(session, of))
        event = Event(
            congregation_id=of,
            id=new_id(),
            type="booking.confirmed",
            booking_id="b1",
            source="api",
            occurred_at=NOW,
        )
        session.add(event)
        session.flush()
        webhooks(session, event, "website")
        return of


@pytest.fixture
def many(sqlite_engine: Engine, here: UUID) -> int:
    """Add more executions than one batch holds; returns how many."""
    with Session(sqlite_engine) as session, session.begin():
        rule = session.scalars(select(Rule).where(Rule.name == "Welcome")).one()
        for n in range(N):
            at = NOW + timedelta(seconds=n)
            factories.execution(session, rule, id=new_id(at), created_at=at)
    return N


def _audited(engine: Engine) -> list[AuditEntry]:
    with Session(engine) as session:
        begun = AuditEntry.action.startswith("export.")
        return list(session.scalars(select(AuditEntry).where(begun).order_by("id")))


def _csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_an_export_holds_the_whole_list_once_and_is_audited(
    as_operator: Browser, here: UUID, many: int, sqlite_engine: Engine
) -> None:
    answer = as_operator.post("/exports/executions/csv?state=pending&q=rule:welcome")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "executions-" in answer.headers["Content-Disposition"]
    rows = _csv(answer.text)
    assert len(rows) == len({row["id"] for row in rows}) == many
    assert rows == sorted(rows, key=lambda row: row["made_at"], reverse=True)
    begun, ended = _audited(sqlite_engine)
    assert (begun.action, begun.actor) == ("export.begun", "operator@example.org")
    assert ended.summary == f"Exported {many} executions."
    assert ended.congregation_id == here
    assert ended.after == {
        "list": "executions",
        "filter": {"state": "pending", "q": "rule:welcome"},
        "format": "csv",
        "rows": many,
        "whole": True,
    }


def test_every_list_is_exported_without_secrets_and_without_formulas(
    as_operator: Browser, here: UUID
) -> None:
    paths = {
        "executions": "?state=failed",
        "scheduled": "",
        "events": "?text=booking:b1",
        "deliveries": "?q=endpoint:website",
    }
    for name, query in paths.items():
        text = as_operator.post(f"/exports/{name}/csv{query}").text
        (row,) = _csv(text)
        assert "=cmd()" not in row.values()
        answer = as_operator.post(f"/exports/{name}/json{query}")
        told = json.loads(answer.text)
        assert (told["n"], told["list"]) == (1, name)
        assert told["rows"][0]["id"] == row["id"]
        assert list(told["rows"][0]) == list(row)
        for secret in ("s3cret", "https://", "secret"):
            assert secret not in text + answer.text, (name, secret)
    (row,) = _csv(as_operator.post("/exports/executions/csv?state=failed").text)
    assert (row["recipient"], row["error"]) == ("'+49 30 1", "'-1")
    assert row["guest"] == "'=cmd()"


def test_lists_of_people_mails_and_deeds_are_exported_without_what_is_private(
    as_operator: Browser, here: UUID, sqlite_engine: Engine
) -> None:
    private = {"phone": "+33 1 23", "address": "Rue 7", "notes": "of the heart"}
    with Session(sqlite_engine) as session, session.begin():
        row = engagement(session, here, "=zoe@example.org")
        row.details = {"note": "of the heart"}
        suppress(
            session, here, "bo@x.org", SuppressionReason.ASKED, SYSTEM, note="heart"
        )
        name = {
            "first_name": "Ida",
            "last_name": "=Brandt",
            "search_name": "brandt ida",
        }
        of = {"congregation_id": here}
        session.add(Member(**of, id=new_id(), **name, **private))
        account = Account(**of, email="ida@example.org", name="Ida")
        digest = Digest(**of, category="territory")
        run = LaneRun(lane="feeds", trigger=LaneTrigger.CLOCK, error="of the heart")
        session.add_all([account, digest, run])
        session.flush()
        about = {"digest_id": digest.id, "account_id": account.id}
        session.add(DigestMail(**of, **about, run_at=NOW, asked_at=NOW))
        asked = {"kind": "cancel_jobs", "matching": {}, "high_water": NOW, **of}
        session.add(Operation(**asked, actor="ada", touched_at=NOW, n_total=3))
    for listed, query in (
        ("operations", "?q=by:ada"),
        ("audit", "?q=about:suppression"),
        ("members", "?q=brandt"),
        ("engagements", "?tab=due"),
        ("contacts", ""),
        ("mails", "?state=pending"),
        ("suppressions", ""),
        ("runs", "?q=lane:feeds"),
    ):
        answer = as_operator.post(f"/exports/{listed}/csv{query}")
        (row_,) = _csv(answer.text)
        assert not [value for value in row_.values() if value.startswith("=")], listed
        for secret in (*private.values(), "heart"):
            assert secret not in answer.text, (listed, secret)
        told = json.loads(as_operator.post(f"/exports/{listed}/json{query}").text)
        assert [*told["rows"][0]] == [*row_]
    whose = {each.congregation_id for each in _audited(sqlite_engine)[1::2]}
    assert whose == {here, None}, "runs of lanes are nobody's alone"


def test_the_question_says_how_many_and_offers_both_files(
    as_operator: Browser, here: UUID
) -> None:
    answer = as_operator.get("/exports/executions?q=state:failed")
    page = BeautifulSoup(answer.text, "html.parser")
    assert page.h1 is not None
    assert page.h1.text.strip() == "Export 1 execution"
    assert "at most 100\u202f000 rows" in page.text
    actions = [str(form["action"]) for form in page.select("form.post")]
    assert "/exports/executions/csv?state=failed" in actions
    nothing = as_operator.get("/exports/executions?q=guest:nobody").text
    assert "Nothing to export" in nothing


def test_what_cannot_be_exported_is_refused(
    as_operator: Browser, as_viewer: Browser, here: UUID
) -> None:
    for path, status in {
        "/exports/nothing/csv": 404,
        "/exports/executions/exe": 404,
        "/exports/executions/csv?q=nofield:1": 400,
        "/exports/executions/csv?since=soon": 400,
        "/exports/events/csv?since=soon": 400,
        "/exports/deliveries/csv?to=soon": 400,
    }.items():
        assert as_operator.post(path).status_code == status, path
    assert as_viewer.post("/exports/executions/csv").status_code == 403
    assert as_viewer.get("/exports/executions").status_code == 403


def test_nobody_exports_rows_of_a_congregation_they_do_not_see(
    log_in: Callable[..., Browser], here: UUID, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        other = factories.congregation(session, "other")
        factories.execution(session, factories.rule(session, other))
    stranger = log_in("operator", sees_all=False, congregations=[other])
    text = stranger.post("/exports/executions/csv").text
    assert len(_csv(text)) == 1
    assert {entry.congregation_id for entry in _audited(sqlite_engine)} == {other}
    assert stranger.post("/exports/events/csv").text.count("\n") == 1


def _reading(engine: Engine, limit: int) -> Reading:
    of = SEARCHED["executions"]
    source = Source(
        Search(of, Query(), MultiDict()),
        lines.lines(),
        lines.Line,
        columns.EXECUTIONS,
        (Execution.id.desc(),),
        Execution.id,
    )
    actor = Actor("anna@example.org")
    return Reading(engine, Scope.EVERY, source, actor, {}, limit)


def test_an_export_ends_at_its_limit_and_says_that_there_is_more(
    sqlite_engine: Engine, many: int
) -> None:
    rows = [row for batch in _reading(sqlite_engine, 510).batches() for row in batch]
    assert len({row["id"] for row in rows}) == 510
    (ended,) = _audited(sqlite_engine)
    assert ended.summary == "Exported 510 executions, not all."


def test_an_export_that_is_broken_off_is_audited_with_what_left(
    sqlite_engine: Engine, many: int
) -> None:
    batches = _reading(sqlite_engine, 1_000).batches()
    assert isinstance(next(batches), Sequence)
    batches.close()  # type: ignore[attr-defined]  # as a server does when nobody reads
    (ended,) = _audited(sqlite_engine)
    assert ended.after == {"rows": 500, "whole": False}


def test_no_cell_is_carried_out_by_a_spreadsheet() -> None:
    rows = [{"a": text, "n": -5, "at": NOW, "no": None} for text in EVIL]
    names = ["a", "n", "at", "no"]
    lines = _csv("".join(as_csv(names, [rows], {})))
    assert [line["a"] for line in lines] == [f"'{text}" for text in EVIL]
    assert lines[0]["n"] == "-5"
    assert lines[0]["at"] == "2026-03-10T12:00:00+00:00"
    told = json.loads("".join(as_json(names, [rows[:1], rows[1:], []], {"list": "x"})))
    assert [row["a"] for row in told["rows"]] == list(EVIL)
    assert told["n"] == len(EVIL)
    assert json.loads("".join(as_json(names, [], {"list": "x"})))["rows"] == []


def test_a_browser_is_asked_to_keep_the_file(as_operator: FlaskClient) -> None:
    answer = as_operator.post("/exports/executions/json")
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert answer.headers["Cache-Control"] == "no-store"
    assert json.loads(answer.text)["rows"] == []
