"""The pages of territories and campaigns, as operators use them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.filters import day
from tasks import daily
from tasks.clock import utcnow
from tasks.congregation.days import local_day
from tasks.models import (
    Attribution,
    Campaign,
    CampaignState,
    Congregation,
    Territory,
)
from tests.dashboard.conftest import Browser
from tests.support import territory_rows

Rows = Callable[[type[Any]], list[Any]]
DAY = timedelta(days=1)


@pytest.fixture
def today() -> date:
    return local_day(utcnow(), "Europe/Paris")


@pytest.fixture
def rows(sqlite_engine: Engine) -> Rows:
    """Return a function that reads all rows of a table, and keeps no lock."""

    def read(model: type[Any]) -> list[Any]:
        with Session(sqlite_engine) as session:
            return list(session.scalars(select(model)))

    return read


@pytest.fixture
def who(sqlite_engine: Engine, congregation: Congregation) -> UUID:
    with Session(sqlite_engine) as session, session.begin():
        return territory_rows.member(session, congregation.id)


@pytest.fixture
def grounds(sqlite_engine: Engine, congregation: Congregation) -> list[UUID]:
    with Session(sqlite_engine) as session, session.begin():
        return [
            territory_rows.territory(session, congregation.id, number)
            for number in ("10", "2", "1")
        ]


def _gift(who: UUID, today: date) -> dict[str, Any]:
    due = {"started_on": today, "due_on": today + 30 * DAY}
    return {"member_id": who, "method": "default", **due}


def _draft(congregation: Congregation, today: date, **values: Any) -> dict[str, Any]:
    return {
        "within": congregation.id,
        "name": "Spring",
        "starts_on": today,
        "ends_on": today + 9 * DAY,
        "start_action": "pause",
        "end_action": "resume",
        "closes_work": "y",
    } | values


def test_territories_stand_in_the_order_of_their_numbers(
    as_operator: Browser, grounds: list[UUID], congregation: Congregation
) -> None:
    data = {"congregation_id": congregation.id, "number": "3", "kind": "shops"}
    made = as_operator.post("/territories/", data=data)
    assert made.status_code == 303
    page = as_operator.get("/territories/").text
    places = [page.index(f"<strong>{number}</strong>") for number in (1, 2, 3, 10)]
    assert places == sorted(places)
    twice = as_operator.post("/territories/", data=data)
    assert twice.status_code == 422
    assert "There is a territory 3 already." in twice.text
    changed = data | {"name": "Harbour", "version": 1}
    assert as_operator.post(made.location, data=changed).status_code == 303
    assert "Harbour" in as_operator.get(f"{made.location}/edit").text
    late = as_operator.post(made.location, data=changed)
    assert late.status_code == 422
    assert "Somebody changed this territory while you were at it" in late.text
    as_operator.post(f"{made.location}/delete")
    assert as_operator.get(made.location).status_code == 404


def test_a_territory_is_given_out_paused_resumed_and_given_back(
    as_operator: Browser, grounds: list[UUID], who: UUID, rows: Rows, today: date
) -> None:
    path = f"/territories/{grounds[0]}"
    assert "Give it out" in as_operator.get(path).text
    wrong = as_operator.post(f"{path}/give", data={"started_on": "2026-02-30"})
    assert wrong.status_code == 422
    assert "Give a day that exists" in wrong.text
    nobody = as_operator.post(
        f"{path}/give", data=_gift(who, today) | {"member_id": ""}
    )
    assert "Choose a member." in nobody.text
    assert as_operator.post(f"{path}/give", data=_gift(who, today)).status_code == 303
    (work,) = rows(Attribution)
    as_operator.post(f"/territories/attributions/{work.id}/pause")
    assert "Noémie Brandt" in as_operator.get("/territories/?tab=paused").text
    as_operator.post(f"/territories/attributions/{work.id}/resume")
    as_operator.post(f"/territories/attributions/{work.id}/due", data={"due_on": today})
    assert "Noémie Brandt" in as_operator.get("/territories/?tab=out").text
    assert "Noémie Brandt" not in as_operator.get("/territories/?tab=overdue").text
    bad = as_operator.post(
        f"/territories/attributions/{work.id}/give-back", follow_redirects=True
    )
    assert "The last day is needed." in bad.text
    as_operator.post(
        f"/territories/attributions/{work.id}/give-back", data={"ended_on": today}
    )
    assert (
        f"until {day(today + 15 * DAY)}"
        in as_operator.get("/territories/?tab=resting").text
    )
    assert str(grounds[0]) not in as_operator.get("/territories/?tab=free").text
    again = as_operator.post(f"{path}/give", data=_gift(who, today))
    assert "This territory rests until" in again.text
    given = _gift(who, today) | {"despite_rest": "y"}
    assert as_operator.post(f"{path}/give", data=given).status_code == 303


def test_a_campaign_is_shown_before_it_is_saved_and_starts_when_it_is(
    as_operator: Browser,
    congregation: Congregation,
    grounds: list[UUID],
    who: UUID,
    rows: Rows,
    today: date,
) -> None:
    as_operator.post(f"/territories/{grounds[0]}/give", data=_gift(who, today))
    draft = _draft(congregation, today, reassigns="y", territory_ids=[grounds[0]])
    shown = as_operator.post("/campaigns/", data=draft | {"preview": "1"})
    assert shown.status_code == 200
    preview = shown.text.partition('id="preview"')[2]
    assert '<strong class="figures">1</strong> paused' in preview
    assert "Noémie Brandt" in preview
    assert rows(Campaign) == []
    made = as_operator.post("/campaigns/", data=draft)
    assert made.status_code == 303
    page = as_operator.get(made.location).text
    assert "given out for the campaign" in page
    assert "End it today" in page
    assert len(rows(Attribution)) == 2
    assert "runs until" in as_operator.get(f"/territories/{grounds[1]}").text
    year = as_operator.get("/campaigns/").text
    assert f"Spring, {day(today)} to {day(today + 9 * DAY)}" in year
    assert "Spring, " not in as_operator.get("/campaigns/?year=1999").text
    assert (
        'type="radio" name="start_action"'
        not in as_operator.get(f"{made.location}/edit").text
    )
    locked = as_operator.post(made.location, data=draft | {"reassigns": ""})
    assert locked.status_code == 422
    assert "can no longer be changed" in locked.text
    refused = as_operator.post(f"{made.location}/delete", follow_redirects=True)
    assert "An active campaign cannot be deleted" in refused.text
    as_operator.post(f"{made.location}/end")
    (row,) = rows(Campaign)
    assert row.state is CampaignState.ENDED
    assert "What it did" in as_operator.get(made.location).text
    assert as_operator.get(f"{made.location}/edit").status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", "", "A name is needed."),
        ("starts_on", "", "The first day is needed."),
        ("ends_on", "2026-13-01", "Give a day that exists"),
        ("ends_on", "1999-01-01", "must not be before"),
        ("rest_days", "-3", "A territory rests 0 to 366 days."),
        ("rest_days", "x", "Not a valid integer"),
        ("territory_ids", str(UUID(int=7)), "One of the territories is gone"),
        ("territory_ids", "x", ""),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(
    as_operator: Browser,
    congregation: Congregation,
    today: date,
    field: str,
    value: str,
    sentence: str,
) -> None:
    draft = _draft(congregation, today, **{field: value})
    answer = as_operator.post("/campaigns/", data=draft)
    if not sentence:  # what is no id is nobody's
        assert answer.status_code == 303
        return
    assert answer.status_code == 422
    assert sentence in answer.text.partition(f'id="{field}-help"')[2][:200]


def test_an_overlap_names_the_other_campaign_and_what_is_planned_can_be_deleted(
    as_operator: Browser, congregation: Congregation, today: date, rows: Rows
) -> None:
    later = _draft(
        congregation, today, starts_on=today + 5 * DAY, ends_on=today + 6 * DAY
    )
    made = as_operator.post("/campaigns/", data=later)
    answer = as_operator.post("/campaigns/", data=_draft(congregation, today))
    assert answer.status_code == 422
    assert "“Spring” has the days from" in answer.text
    assert "What its start will do" in as_operator.get(made.location).text
    previewed = as_operator.post(made.location, data=later | {"preview": "1"})
    assert "What it would do now" in previewed.text
    stale = as_operator.post(made.location, data=later | {"version": "99"})
    assert "Somebody changed this campaign" in stale.text
    as_operator.post(f"{made.location}/delete")
    assert rows(Campaign) == []
    assert rows(Territory) == []


def test_the_congregations_home_tells_of_its_back_office(
    as_operator: Browser,
    congregation: Congregation,
    grounds: list[UUID],
    who: UUID,
    today: date,
    sqlite_engine: Engine,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        late = {"started_on": today - 9 * DAY, "due_on": today - DAY}
        territory_rows.attribution(session, congregation.id, who, grounds[0], **late)
        territory_rows.member(session, congregation.id, left_on=today)
        daily.mark_failed(session, "campaign", congregation.id, "no disk", utcnow())
    planned = _draft(
        congregation, today, starts_on=today + 5 * DAY, ends_on=today + 9 * DAY
    )
    as_operator.post("/campaigns/", data=planned)
    page = as_operator.get("/congregations/st-mary").text
    for words in (
        "no disk",
        "Overdue territories",
        "Left, to be anonymised",
        "Campaign, days to go",
        "1 given out",
        "/territories/?congregation=st-mary&amp;tab=overdue",
    ):
        assert words in page
    overdue = as_operator.get("/territories/?congregation=st-mary&tab=overdue").text
    assert str(grounds[0]) in overdue
    assert str(grounds[1]) not in overdue
