"""The pages of campaigns and daily caps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.clock import utcnow
from tasks.db import sessions
from tasks.lanes.contact_due import ContactDueSweep, sweep
from tasks.models import Agent, Congregation, Engagement, OutreachCampaign
from tests.dashboard.conftest import Browser
from tests.support.fakes import FakePost, bench
from tests.support.outreach import engagement

Sessions = sessionmaker[Session]


@pytest.fixture
def make_db(sqlite_engine: Engine) -> Sessions:
    return sessions(sqlite_engine)


@pytest.fixture
def add(make_db: Sessions, congregation: Congregation) -> Callable[..., UUID]:
    """Return a function that enrols a contact that is due."""

    def enrol(*args: Any, **values: Any) -> UUID:
        with make_db.begin() as session:
            return engagement(session, congregation.id, *args, **values).id

    return enrol


def words(answer: Any, status: int = 200) -> str:
    assert answer.status_code == status, answer.get_data(as_text=True)
    return str(answer.get_data(as_text=True))


def _sweep(make_db: Sessions) -> ContactDueSweep:
    now: datetime = utcnow()
    return sweep(bench(make_db, lambda: now, FakePost()), 200)


def _one(make_db: Sessions, model: Any) -> Any:
    with make_db() as session:
        return session.scalars(select(model)).one()


def test_a_campaign_is_added_capped_and_removed(
    as_operator: Browser,
    make_db: Sessions,
    add: Callable[..., UUID],
    congregation: Congregation,
) -> None:
    assert "No campaign yet" in words(as_operator.get("/outreach/campaigns"))
    form = {
        "congregation_id": str(congregation.id),
        "name": "Spring",
        "daily_cap": "1",
    }
    assert "Congregation" in words(as_operator.get("/outreach/campaigns/new"))
    assert as_operator.post("/outreach/campaigns", data=form).status_code == 303
    row = _one(make_db, OutreachCampaign)
    ids = [add(f"g{n}@example.org", campaign="Spring") for n in range(3)]
    assert len(_sweep(make_db).waiting) == 2

    page = words(as_operator.get("/outreach/campaigns"))
    assert page.count("tab=held&amp;campaign=Spring") == 1
    held = words(as_operator.get("/outreach/?tab=held&campaign=Spring"))
    assert sum(f"engagement-{id_}" in held for id_ in ids) == 2
    path = f"/outreach/campaigns/{row.id}"
    assert "Waiting for another day" in words(as_operator.get(path))
    with make_db() as session:
        waits = select(Engagement.id).where(Engagement.waits_for.is_not(None))
        waiting = session.scalars(waits).all()
    detail = words(as_operator.get(f"/outreach/{waiting[0]}"))
    assert "its campaign has had its wake-ups for today" in detail

    assert "whole number" in words(as_operator.post(path, data={"daily_cap": "x"}), 422)
    assert as_operator.post(path, data={"daily_cap": ""}).status_code == 303
    assert _one(make_db, OutreachCampaign).daily_cap is None
    assert len(_sweep(make_db).announced) == 2
    assert as_operator.post(f"{path}/remove").status_code == 303
    assert "No campaign yet" in words(as_operator.get("/outreach/campaigns"))


def test_agents_and_contacts_are_capped(
    as_operator: Browser, make_db: Sessions, add: Callable[..., UUID]
) -> None:
    add()
    add("max@example.org")
    agent = _one(make_db, Agent)
    path = f"/outreach/agents/{agent.id}/cap"
    assert agent.address in words(as_operator.get(path))
    assert "from 1 to" in words(as_operator.post(path, data={"daily_cap": "0"}), 422)
    assert as_operator.post(path, data={"daily_cap": "1"}).status_code == 303
    _sweep(make_db)
    page = words(as_operator.get("/outreach/agents"))
    assert "1 of 1" in page
    assert "1 waiting" in page

    house = "/outreach/contact-cap/st-mary"
    assert "St Mary" in words(as_operator.get(house))
    assert as_operator.post(house, data={"daily_cap": "2"}).status_code == 303
    with make_db() as session:
        assert session.scalars(select(Congregation.contact_daily_cap)).one() == 2


def test_an_engagement_says_its_campaign(
    as_operator: Browser, make_db: Sessions, add: Callable[..., UUID]
) -> None:
    id_ = add()
    for name, seen, status in (("a/b", 1, 422), ("Spring", 1, 303), ("", 2, 303)):
        values = {"campaign": name, "version": seen}
        answer = as_operator.post(f"/outreach/{id_}", data=values)
        assert answer.status_code == status
        if name == "Spring":
            assert "Spring" in words(as_operator.get(f"/outreach/{id_}/edit"))
    assert _one(make_db, Engagement).campaign is None


def test_a_mistake_is_told_at_its_field(
    as_operator: Browser, congregation: Congregation
) -> None:
    good = {"congregation_id": str(congregation.id), "name": "Spring"}
    mistakes: list[tuple[dict[str, str], str]] = [
        ({"congregation_id": ""}, "Choose a congregation."),
        ({"name": " "}, "Give the campaign a name."),
        ({"name": "a/b"}, "slash"),
        ({"name": "x" * 81}, "at most 80"),
        ({"daily_cap": "-1"}, "whole number"),
        ({"daily_cap": "9" * 30}, "whole number"),
    ]
    for values, sentence in mistakes:
        answer = as_operator.post("/outreach/campaigns", data=good | values)
        assert sentence in words(answer, 422), values


def test_a_viewer_looks_and_changes_nothing(
    as_viewer: Browser, make_db: Sessions, add: Callable[..., UUID]
) -> None:
    add(campaign="Spring")
    row, agent = _one(make_db, OutreachCampaign), _one(make_db, Agent)
    page = words(as_viewer.get(f"/outreach/campaigns/{row.id}"))
    assert "Save" not in page
    for path in (
        "campaigns",
        f"campaigns/{row.id}",
        f"campaigns/{row.id}/remove",
        f"agents/{agent.id}/cap",
        "contact-cap/st-mary",
    ):
        answer = as_viewer.post(f"/outreach/{path}", data={"daily_cap": "3"})
        assert answer.status_code == 403, path
