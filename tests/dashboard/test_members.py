"""The pages of members and groups, as operators use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard import office
from dashboard.groups import views
from tasks.models import (
    Congregation,
    Consent,
    EmergencyContact,
    Group,
    GroupMember,
    Member,
    new_id,
)
from tests.dashboard.conftest import Browser
from tests.support import factories, territory_rows

Rows = Callable[[type[Any]], list[Any]]


@pytest.fixture
def rows(sqlite_engine: Engine) -> Rows:
    """Return a function that reads all rows of a table, and keeps no lock."""

    def read(model: type[Any]) -> list[Any]:
        with Session(sqlite_engine) as session:
            return list(session.scalars(select(model)))

    return read


@pytest.fixture
def ids(sqlite_engine: Engine, congregation: Congregation) -> list[UUID]:
    names = (("Noémie", "Brandt"), ("Paul", "Ørsted"), ("Zoé", "Martin"))
    with Session(sqlite_engine) as session, session.begin():
        return [
            territory_rows.member(
                session, congregation.id, first_name=first, last_name=last
            )
            for first, last in names
        ]


def test_a_member_is_taken_in_found_without_accents_and_changed(
    as_operator: Browser, congregation: Congregation, ids: list[UUID]
) -> None:
    page = as_operator.get("/members/new").text
    assert str(congregation.id) in page
    data = {
        "congregation_id": str(congregation.id),
        "first_name": "Élodie",
        "last_name": "Łukasz",
        "birth_date": "1980-02-29",
        "is_elder": "y",
    }
    made = as_operator.post("/members/", data=data)
    assert made.status_code == 303
    assert "Łukasz" in as_operator.get("/members/?q=lukasz+ELO").text
    assert "Brandt" not in as_operator.get("/members/?q=lukasz").text
    shown = as_operator.get(made.location)
    assert "29 February 1980" in shown.text
    assert "Elder" in shown.text
    edited = as_operator.post(
        made.location, data=data | {"last_name": "Lukas", "version": "1"}
    )
    assert edited.status_code == 303
    stale = as_operator.post(made.location, data=data | {"version": "1"})
    assert stale.status_code == 422
    assert "Somebody changed this member" in stale.text


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("first_name", "", "A first name is needed."),
        ("birth_date", "1980-02-30", "Give a day that exists"),
        ("birth_date", "2999-01-01", "This day lies ahead"),
        ("email", "nobody", "@"),
        ("gender", "x", "Choose one of these"),
        ("congregation_id", "x", "Choose a congregation."),
        ("notes", "x" * 2_001, "at most 2000"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(
    as_operator: Browser,
    congregation: Congregation,
    field: str,
    value: str,
    sentence: str,
) -> None:
    data = {
        "congregation_id": str(congregation.id),
        "first_name": "Ines",
        "last_name": "Kern",
    } | {field: value}
    answer = as_operator.post("/members/", data=data)
    assert answer.status_code == 422
    beside = answer.text.partition(f'id="{field}-help"')[2][:200]
    assert sentence in beside


def test_a_member_leaves_is_held_and_is_back(
    as_operator: Browser, ids: list[UUID], rows: Rows
) -> None:
    path = f"/members/{ids[0]}"
    as_operator.post(f"{path}/leave", data={"left_on": "2026-01-31"})
    page = as_operator.get(path).text
    assert "is anonymised on <strong>31 July 2026</strong>" in page
    assert "anonymised on 31 July 2026" in as_operator.get("/members/?tab=left").text
    held = {"hold_until": "2999-01-01", "hold_reason": "A letter"}
    as_operator.post(f"{path}/hold", data=held)
    assert "2 January 2999" in as_operator.get(path).text
    assert "Brandt" in as_operator.get("/members/?tab=held").text
    as_operator.post(f"{path}/release")
    as_operator.post(f"{path}/return")
    assert all(each.left_on is None for each in rows(Member))
    refused = as_operator.post(f"{path}/leave", follow_redirects=True)
    assert "The day of leaving is needed." in refused.text
    refused = as_operator.post(f"{path}/return", follow_redirects=True)
    assert "This member has not left." in refused.text


def test_whom_to_call_and_consents_stand_on_the_members_page(
    as_operator: Browser, ids: list[UUID], rows: Rows
) -> None:
    path = f"/members/{ids[0]}"
    as_operator.post(f"{path}/contacts", data={"name": "Ada", "phone": "123"})
    as_operator.post(f"{path}/consents", data={"kind": "photo"})
    (row,) = rows(EmergencyContact)
    page = as_operator.get(path).text
    assert "Ada" in page
    assert "Takes it back" in page
    as_operator.post(f"{path}/contacts/{row.id}/remove")
    as_operator.post(f"{path}/consents/withdraw", data={"kind": "photo"})
    assert "Ada" not in as_operator.get(path).text
    (consent,) = rows(Consent)
    assert consent.withdrawn_at is not None
    bad = as_operator.post(f"{path}/consents", follow_redirects=True)
    assert "Choose what is agreed to." in bad.text
    bad = as_operator.post(f"{path}/contacts", follow_redirects=True)
    assert "A name is needed." in bad.text


def test_a_group_is_made_filled_changed_and_deleted(
    as_operator: Browser,
    congregation: Congregation,
    ids: list[UUID],
    rows: Rows,
) -> None:
    data = {"within": congregation.id, "name": "North", "responsible_id": ids[0]}
    assert as_operator.get("/groups/new").status_code == 200
    made = as_operator.post("/groups/", data=data)
    assert made.status_code == 303
    as_operator.post(f"{made.location}/members", data={"member_id": ids[1]})
    assert "Ørsted" in as_operator.get(made.location).text
    assert "Noémie Brandt" in as_operator.get("/groups/").text
    wrong = as_operator.post("/groups/", data=data)
    assert wrong.status_code == 422
    assert "There is a group “North”." in wrong.text
    changed = {"name": "Nord", "responsible_id": ids[2], "deputy_id": ids[0]}
    assert 'name="version" value="1"' in as_operator.get(f"{made.location}/edit").text
    seen = changed | {"version": 1}
    assert as_operator.post(made.location, data=seen).status_code == 303
    late = as_operator.post(made.location, data=seen)
    assert late.status_code == 422
    assert "Somebody changed this group while you were at it" in late.text
    stays = as_operator.post(
        f"{made.location}/members/{ids[2]}/remove", follow_redirects=True
    )
    assert "Put somebody else in their place first." in stays.text
    as_operator.post(f"{made.location}/members/{ids[1]}/remove")
    as_operator.post(f"/members/{ids[2]}/leave", data={"left_on": "2026-01-31"})
    assert "or it is never anonymised" in as_operator.get(f"/members/{ids[2]}").text
    assert "has left" in as_operator.get("/groups/").text
    nobody = as_operator.post(f"{made.location}/members", follow_redirects=True)
    assert "Choose a member." in nobody.text
    as_operator.post(f"{made.location}/delete")
    assert rows(Group) == rows(GroupMember) == []


def test_a_viewer_may_look_and_not_act(
    as_viewer: Browser, ids: list[UUID], congregation: Congregation
) -> None:
    page = as_viewer.get(f"/members/{ids[0]}").text
    assert "Has left" not in page
    assert as_viewer.post(f"/members/{ids[0]}/leave").status_code == 403
    assert as_viewer.get("/members/new").status_code == 403
    assert as_viewer.get(f"/members/{new_id()}").status_code == 404
    assert as_viewer.get("/members/?tab=moon").status_code == 400


def test_new_things_of_several_congregations_ask_for_one(
    as_operator: Browser,
    congregation: Congregation,
    sqlite_engine: Engine,
    ids: list[UUID],
    log_in: Callable[..., Browser],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        other = factories.congregation(session, "other")
    page = as_operator.get("/groups/new").text
    assert f'value="{other}"' in page
    chosen = as_operator.get(f"/groups/new?within={congregation.id}").text
    assert "Brandt Noémie" in chosen
    assert as_operator.post("/groups/", data={"name": "x"}).status_code == 422


def test_of_many_members_those_are_offered_whose_name_begins_so(
    as_operator: Browser,
    congregation: Congregation,
    ids: list[UUID],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for page in (office, views):
        monkeypatch.setattr(page, "CHOICES_MAX", 2)
    asked = f"/groups/new?within={congregation.id}"
    first = as_operator.get(asked).text
    assert "Last name begins with" in first
    assert "Ørsted" not in first
    narrowed = as_operator.get(f"{asked}&who=ors").text
    assert "Ørsted" in narrowed
    assert "Brandt" not in narrowed
