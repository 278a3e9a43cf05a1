"""Campaigns, daily caps and suppressions over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.test import TestResponse

from tasks.lanes.contact_due import ContactDueSweep, sweep
from tasks.models import AuditEntry, Engagement, PassedBecause, Suppression, WakeState
from tasks.operations.suppressions import unsubscribe
from tests.dashboard.api.caller import Api, error_of
from tests.support.fakes import FakePost, bench

AGENT = "sales@agents.org"
PAST = "2026-01-05T09:00:00Z"
SPRING = "/outreach-campaigns/Spring 2026"


def _json(answer: TestResponse, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json


def _sweep(make_db: sessionmaker[Session]) -> ContactDueSweep:
    return sweep(bench(make_db, lambda: datetime.now(UTC), FakePost()), 200)


def _enrol(api: Api, name: str, **values: Any) -> Any:
    told = {"next_action_at": PAST} | values
    path = f"/agents/{AGENT}/contacts/{name}@example.org"
    return _json(api.put(path, told), 201)


def test_a_campaign_holds_what_goes_beyond_its_cap_and_says_so(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    made = _json(api.put(SPRING, {"daily_cap": 1}), 201)
    assert (made["name"], made["daily_cap"]) == ("Spring 2026", 1)
    for name in ("a", "b", "c"):
        told = _enrol(api, name, campaign="Spring 2026")
        assert (told["campaign"], told["waits_for"]) == ("Spring 2026", None)
    assert len(_sweep(make_db).announced) == 1
    shown = _json(api.get(SPRING))
    assert (shown["announced_today"], shown["waiting"]) == (1, 2)
    (listed,) = _json(api.get("/outreach-campaigns"))["campaigns"]
    assert listed == shown
    waiting = _json(api.get(f"/agents/{AGENT}/contacts?waiting=true"))["engagements"]
    assert [each["waits_for"] for each in waiting] == ["campaign_cap"] * 2
    assert all(each["wake_at"] > PAST for each in waiting)
    others = _json(api.get(f"/agents/{AGENT}/contacts?campaign=Autumn"))
    assert others["engagements"] == []

    assert _json(api.put(SPRING, {"daily_cap": None}))["daily_cap"] is None
    assert len(_sweep(make_db).announced) == 2
    assert _json(api.call("DELETE", SPRING)) == {"removed": True}
    assert error_of(api.get(SPRING), 404)["code"] == "unknown_campaign"
    assert error_of(api.call("DELETE", SPRING), 404)


def test_agents_and_contacts_have_caps(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    made = _json(api.put(f"/agents/{AGENT}", {"daily_cap": 1}), 201)
    assert (made["address"], made["daily_cap"], made["waiting"]) == (AGENT, 1, 0)
    assert _json(api.get("/outreach-caps")) == {"contact_daily_cap": None}
    assert _json(api.put("/outreach-caps", {"contact_daily_cap": 4})) == {
        "contact_daily_cap": 4
    }
    _enrol(api, "a")
    _enrol(api, "b")
    assert len(_sweep(make_db).waiting) == 1
    shown = _json(api.get(f"/agents/{AGENT}"))
    assert (shown["announced_today"], shown["waiting"]) == (1, 1)
    assert _json(api.put(f"/agents/{AGENT}", {"daily_cap": 2}))["waiting"] == 0
    assert len(_sweep(make_db).announced) == 1


def test_mistakes_are_named(api: Api) -> None:
    mistakes: list[tuple[str, dict[str, Any], str]] = [
        (SPRING, {"daily_cap": 0}, "daily_cap"),
        (SPRING, {"daily_cap": "5"}, "daily_cap"),
        (SPRING, {"daily_cap": 1.5}, "daily_cap"),
        (SPRING, {}, "daily_cap"),
        ("/outreach-campaigns/%20", {"daily_cap": 1}, "name"),
        (f"/outreach-campaigns/{'x' * 81}", {"daily_cap": 1}, "name"),
        ("/agents/nobody", {"daily_cap": 1}, "agent"),
        ("/outreach-caps", {"contact_daily_cap": -1}, "contact_daily_cap"),
        (f"/agents/{AGENT}/contacts/a@example.org", {"campaign": "a/b"}, "campaign"),
        ("/suppressions/nobody", {}, "address"),
        ("/suppressions/a@example.org?agent=x", {}, "agent"),
        ("/suppressions/a@example.org", {"reason": "boredom"}, "reason"),
        ("/suppressions/a@example.org", {"note": "a\nb"}, "note"),
    ]
    for path, body, field in mistakes:
        error = error_of(api.put(path, body), 422)
        assert {each["field"] for each in error["problems"]} == {field}, path


def test_an_address_is_stopped_once_and_allowed_again(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    path = "/suppressions/Zoe@Example.org"
    made = _json(api.put(path, {"reason": "bounced", "note": "550"}), 201)
    assert (made["address"], made["agent"]) == ("zoe@example.org", None)
    assert _json(api.put(path, {"reason": "complained"})) == made
    assert _json(api.get(path)) == made
    alone = _json(api.put(f"{path}?agent={AGENT}", {}), 201)
    assert (alone["agent"], alone["reason"]) == (AGENT, "asked")

    def ids(query: str) -> list[str]:
        rows = _json(api.get(f"/suppressions{query}"))["suppressions"]
        return [row["id"] for row in rows]

    assert ids("") == [alone["id"], made["id"]]
    assert ids("?everybody=true") == ids("?reason=bounced") == [made["id"]]
    assert ids("?everybody=false") == ids(f"?agent={AGENT}") == [alone["id"]]
    assert ids("?address=max@example.org") == []
    page = _json(api.get("/suppressions?limit=1"))
    assert ids(f"?limit=1&cursor={page['next_cursor']}") == [made["id"]]
    error = error_of(
        api.get(f"/suppressions?reason=asked&cursor={page['next_cursor']}"), 400
    )
    assert error["code"] == "cursor_invalid"

    assert _json(api.call("DELETE", path)) == {"removed": True}
    assert error_of(api.call("DELETE", path), 404)["code"] == "unknown_suppression"
    assert ids("") == [alone["id"]]
    with make_db() as session:
        done = session.execute(select(AuditEntry.action, AuditEntry.actor)).all()
    verbs = [action for action, actor in done if actor.startswith("token:")]
    assert verbs.count("suppression.added") == 2
    assert verbs.count("suppression.lifted") == 1


def test_allowing_an_address_again_wakes_nobody_for_the_past(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    for agent in ("", f"?agent={AGENT}"):
        _json(api.put(f"/suppressions/zoe@example.org{agent}", {}), 201)
        path = f"/agents/{AGENT}/contacts/zoe@example.org"
        api.put(path, {"next_action_at": f"2026-01-0{5 + bool(agent)}T09:00:00Z"})
        _json(api.call("DELETE", f"/suppressions/zoe@example.org{agent}"))
        assert _sweep(make_db) == ContactDueSweep()
        with make_db() as session:
            row = session.scalars(select(Engagement)).one()
            assert row.wake_state is WakeState.PASSED
            assert row.passed_because is PassedBecause.SUPPRESSED


def test_who_unsubscribed_gets_mails_again_only_when_they_asked_for_it(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    path = "/suppressions/zoe@example.org"
    with make_db.begin() as session:
        unsubscribe(session, api.congregation_id, "zoe@example.org")
    assert _json(api.put(path, {"reason": "unsubscribed"}))["reason"] == "unsubscribed"
    error = error_of(api.call("DELETE", path), 409)
    assert error["code"] == "recipient_unsubscribed"
    assert _json(api.call("DELETE", f"{path}?consent=true")) == {"removed": True}
    with make_db.begin() as session:
        unsubscribe(session, api.congregation_id, "zoe@example.org")
    assert _json(api.put(path, {"reason": "complained"}))["reason"] == "complained"
    with make_db() as session:
        assert session.scalars(select(Suppression)).one().created_by.startswith("token")
