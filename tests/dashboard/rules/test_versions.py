"""What saving a rule would do is seen before; what it was is seen and comes back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from dashboard.rules.versions import titles_of
from tasks.clock import utcnow
from tasks.models import (
    AuditEntry,
    JobState,
    Podcast,
    Rule,
    RulePodcast,
    RuleVersion,
    ScheduledJob,
    new_id,
)
from tests.dashboard.rules.conftest import XSS, soup, words
from tests.support import factories
from tests.support.statements import statements


@pytest.fixture
def house(sqlite_engine: Engine) -> UUID:
    """Return the id of a congregation with two podcasts and a booking in two days."""
    with Session(sqlite_engine) as session, session.begin():
        id_ = factories.congregation(session)
        session.add(Podcast(congregation_id=id_, id="other", title="Turmgespräche"))
        start = utcnow() + timedelta(days=2)
        factories.booking(session, id_, start_time=start, confirmed_at=utcnow())
        return id_


def form_of(of: UUID, **values: Any) -> dict[str, Any]:
    """Return what the form of a reminder sends."""
    return {
        "rule_id": str(new_id()),
        "name": "Reminder",
        "scope": str(of),
        "trigger_type": "time.before_recording",
        "offset_value": "24",
        "offset_unit": "hours",
        "late_policy": "skip",
        "action": "email",
        "recipient": "guest",
        "subject": "Soon",
        "text": "See you.\r\nBye.",
        "max_attempts": "5",
        "enabled": "y",
    } | values


def hidden(page: BeautifulSoup, action: str) -> dict[str, Any]:
    """Return what the form with this address would send, without its buttons."""
    form = page.select_one(f'main form[action="{action}"]')
    assert isinstance(form, Tag)
    found: dict[str, Any] = {}
    for each in form.select("input[name]"):
        found.setdefault(str(each["name"]), []).append(str(each.get("value", "")))
    return found


def create(client: FlaskClient, of: UUID, **values: Any) -> str:
    """Create a rule and return its address."""
    sent = form_of(of, confirmed="y", **values)
    answer = client.post("/rules/", data=sent)
    assert answer.status_code == 303, words(answer)
    return answer.location


def test_a_rule_belongs_to_several_podcasts(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    form = soup(
        as_operator.post("/rules/fields", data=form_of(house, scope=f"{house}/*"))
    )
    assert {box["value"] for box in form.select("[name=podcasts]")} == {"show", "other"}

    path = create(as_operator, house, scope=f"{house}/*", podcasts=["show", "other"])
    assert read(Rule)[0].podcast_ids == ["other", "show"]
    assert {row.podcast_id for row in read(RulePodcast)} == {"other", "show"}
    assert "Kirchplatz and Turmgespräche" in words(as_operator.get(path))
    assert "Kirchplatz and Turmgespräche" in words(as_operator.get("/rules/"))
    edit = soup(as_operator.get(f"{path}/edit"))
    assert len(edit.select("[name=podcasts][checked]")) == 2

    as_operator.post(
        path, data=form_of(house, version="1", scope=f"{house}/other", confirmed="y")
    )
    assert read(Rule)[0].podcast_ids == ["other"]
    assert {row.podcast_id for row in read(RulePodcast)} == {"other"}


@pytest.mark.parametrize("podcasts", [[], ["elsewhere"], ["show", "a\0b"]])
def test_a_bad_choice_of_podcasts_is_said_at_the_boxes(
    as_operator: FlaskClient,
    house: UUID,
    read: Callable[..., list[Any]],
    podcasts: list[str],
) -> None:
    sent = form_of(house, scope=f"{house}/*", podcasts=podcasts)
    answer = as_operator.post("/rules/", data=sent)
    assert answer.status_code == 422
    error = soup(answer).select_one("#podcasts-help")
    assert error is not None
    assert "podcast" in error.text
    assert read(Rule) == []


def test_the_list_finds_the_rules_of_a_podcast(
    as_operator: FlaskClient, house: UUID
) -> None:
    create(
        as_operator, house, name="Both", scope=f"{house}/*", podcasts=["show", "other"]
    )
    create(as_operator, house, name="One", scope=f"{house}/other")
    page = soup(as_operator.get(f"/rules/?scope={house}/show"))
    assert [name.text for name in page.select(".rule-name strong")] == ["Both"]


def test_before_saving_one_sees_what_moves(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    path = create(as_operator, house, also_coming="y")
    (before,) = read(ScheduledJob)

    sent = form_of(house, version="1", offset_value="2")
    foretold = as_operator.post(path, data=sent)
    page = soup(foretold)
    assert foretold.status_code == 200
    assert "1 job moves" in words(foretold)
    assert "Jörg" in page.select_one("#fate-moved").text  # type: ignore[union-attr]
    assert "(Europe/Berlin)" in words(foretold)
    assert read(Rule)[0].version == 1
    assert read(ScheduledJob)[0].due_at == before.due_at

    kept = hidden(page, path)
    back = soup(as_operator.post(f"/rules/fields?rule={read(Rule)[0].id}", data=kept))
    assert back.select_one("#offset_value")["value"] == "2"  # type: ignore[index]

    saved = as_operator.post(path, data=kept | {"confirmed": "y"})
    assert saved.status_code == 303
    jobs = {job.state: job for job in read(ScheduledJob)}
    assert jobs[JobState.PENDING].due_at == before.due_at + timedelta(hours=22)


def test_what_ends_says_why_before_it_does(
    as_operator: FlaskClient, house: UUID
) -> None:
    path = create(as_operator, house, also_coming="y")
    foretold = as_operator.post(
        path, data=form_of(house, version="1", offset_value="72")
    )
    assert "1 job is cancelled" in words(foretold)
    assert "already passed" in words(foretold)


def test_where_no_job_moves_nothing_is_asked(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    path = create(as_operator, house, also_coming="y")
    answer = as_operator.post(path, data=form_of(house, version="1", name="Other"))
    assert answer.status_code == 303
    assert read(Rule)[0].name == "Other"


def test_who_comes_second_is_told_before_anything_is_foretold(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    path = create(as_operator, house, also_coming="y")
    as_operator.post(path, data=form_of(house, version="1", name="First"))
    answer = as_operator.post(path, data=form_of(house, version="1", offset_value="2"))
    assert answer.status_code == 409
    assert "changed this rule meanwhile" in words(answer)
    link = soup(answer).select_one('[role=alert] a[href*="versions"]')
    assert link is not None
    assert "Reminder → First" in words(as_operator.get(str(link["href"])))
    sent = form_of(house, version="1", offset_value="2", confirmed="y")
    assert as_operator.post(path, data=sent).status_code == 409
    assert read(Rule)[0].offset_value == 24


def test_a_guests_name_is_never_markup_there(
    as_operator: FlaskClient, house: UUID, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        start = utcnow() + timedelta(days=3)
        factories.booking(session, house, id="b2", guest_name=XSS, start_time=start)
    foretold = as_operator.post(
        "/rules/", data=form_of(house, name=XSS, also_coming="y")
    )
    assert "2 jobs are planned" in words(foretold)
    assert XSS not in foretold.get_data(as_text=True)


def test_planning_for_the_calendar_is_looked_at_first(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    path = create(as_operator, house)
    page = as_operator.get(f"{path}/plan")
    assert "1 job is planned" in words(page)
    assert read(ScheduledJob) == []
    here = {"Referer": f"http://localhost{path}/plan"}
    answer = as_operator.post(f"{path}/enable?coming=1", headers=here)
    assert answer.location == path
    assert len(read(ScheduledJob)) == 1
    assert "Nothing to plan" in words(as_operator.get(f"{path}/plan"))
    event = create(as_operator, house, trigger_type="booking.confirmed")
    assert "Nothing to plan" in words(as_operator.get(f"{event}/plan"))


def test_every_saving_keeps_a_version(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    path = create(as_operator, house)
    as_operator.post(path, data=form_of(house, version="1", name="Second"))
    as_operator.post(path, data=form_of(house, version="2", name="Second"))  # the same
    kept = sorted(read(RuleVersion), key=lambda row: row.version)
    assert [(row.version, row.verb, row.document["name"]) for row in kept] == [
        (1, "created", "Reminder"),
        (2, "edited", "Second"),
    ]
    assert kept[0].actor.startswith("operator")
    page = as_operator.get(f"{path}/versions")
    assert soup(page).select_one("#version-2") is not None


def test_two_versions_are_compared_field_by_field(
    as_operator: FlaskClient, house: UUID
) -> None:
    path = create(as_operator, house, text="Hello.\nSee you.\nBye.")
    changed = {
        "name": "Later",
        "offset_value": "2",
        "scope": f"{house}/other",
        "text": "Hello.\nSee you soon.\nBye.",
    }
    as_operator.post(path, data=form_of(house, version="1", **changed))
    page = soup(as_operator.get(f"{path}/versions?a=1&b=2"))
    shown = page.select_one("#comparison")
    assert shown is not None
    text = " ".join(shown.get_text(" ").split())
    assert "Reminder → Later" in text
    assert "24 → 2" in text
    assert "Every podcast → Turmgespräche" in text
    assert [gone.text for gone in shown.select("[data-line=gone]")] == ["See you.\n"]
    assert [new.text for new in shown.select("[data-line=new]")] == ["See you soon.\n"]
    assert "Attempts" not in text
    today = soup(as_operator.get(f"{path}/versions?a=1")).select_one("#comparison")
    assert today == shown
    same = words(as_operator.get(f"{path}/versions?a=2&b=2"))
    assert "They say the same." in same


def test_of_podcasts_only_those_that_are_compared_are_read(
    sqlite_engine: Engine, house: UUID
) -> None:
    every = {"podcast_ids": None}
    one = {"podcast_ids": ["other", "removed"]}
    with Session(sqlite_engine) as session:
        assert titles_of(session, house, [every, one]) == {"other": "Turmgespräche"}
        with statements() as seen:
            assert titles_of(session, house, [every, every]) == {}
        assert seen == []


@pytest.mark.parametrize("query", ["a=1&b=7", "a=0&b=1", "a=-1&b=1", f"a=1&b={10**30}"])
def test_a_version_that_never_was_is_not_found(
    as_operator: FlaskClient, house: UUID, query: str
) -> None:
    path = create(as_operator, house)
    assert as_operator.get(f"{path}/versions?{query}").status_code == 404
    assert as_operator.get(f"{path}/versions/7/restore").status_code == 404
    assert as_operator.get(f"{path}/versions/{10**30}/restore").status_code == 404
    assert as_operator.get(f"{path}/versions?a=x&b=").status_code == 200


def test_a_version_comes_back_as_a_new_one(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    path = create(as_operator, house, also_coming="y")
    sent = form_of(house, version="1", offset_value="2", confirmed="y")
    as_operator.post(path, data=sent)

    page = as_operator.get(f"{path}/versions/1/restore")
    assert "2 → 24" in words(page)
    assert "1 job moves" in words(page)
    seen = hidden(soup(page), f"{path}/versions/1/restore")
    answer = as_operator.post(f"{path}/versions/1/restore", data=seen)
    assert answer.location == path
    (rule,) = read(Rule)
    assert (rule.offset_value, rule.version) == (24, 3)
    assert max(read(RuleVersion), key=lambda row: row.version).verb == "restored"
    assert "rule.restored" in {entry.action for entry in read(AuditEntry)}
    again = as_operator.post(f"{path}/versions/2/restore", data=seen)
    assert again.status_code == 409
    assert read(Rule)[0].version == 3


def test_a_version_that_no_longer_holds_says_why(
    as_operator: FlaskClient, house: UUID, sqlite_engine: Engine
) -> None:
    path = create(as_operator, house, scope=f"{house}/other")
    as_operator.post(path, data=form_of(house, version="1"))
    with Session(sqlite_engine) as session, session.begin():
        session.delete(session.get_one(Podcast, (house, "other")))
    page = as_operator.get(f"{path}/versions/1/restore")
    assert "There is no podcast “other” here" in words(page)
    refused = as_operator.post(f"{path}/versions/1/restore", data={"seen": "2"})
    assert 400 <= refused.status_code < 500


def test_no_version_holds_a_secret(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    hook = {"action": "webhook", "url": "https://example.org/hook"}
    answer = as_operator.post("/rules/", data=form_of(house, **hook))
    secret = soup(answer).select_one("#secret")
    assert secret is not None
    sealed = read(Rule)[0].secret
    (kept,) = read(RuleVersion)
    assert secret.text not in str(kept.document)
    assert sealed not in str(kept.document)
    assert not [name for name in kept.document if "secret" in name]


def test_a_viewer_sees_versions_and_brings_none_back(
    as_operator: FlaskClient,
    as_viewer: FlaskClient,
    house: UUID,
    read: Callable[..., list[Any]],
) -> None:
    path = create(as_operator, house)
    as_operator.post(path, data=form_of(house, version="1", name="Second"))
    page = as_viewer.get(f"{path}/versions?a=1&b=2")
    assert page.status_code == 200
    assert soup(page).select(".row-actions a") == []
    assert as_viewer.get(f"{path}/versions/1/restore").status_code == 403
    assert as_viewer.post(f"{path}/versions/1/restore").status_code == 403
    assert as_viewer.get(f"{path}/plan").status_code == 403
    assert read(Rule)[0].name == "Second"


def test_a_duplicate_is_off_until_somebody_looked_at_it(
    as_operator: FlaskClient, house: UUID
) -> None:
    path = create(as_operator, house)
    copy = soup(as_operator.get(f"/rules/new?copy={path.rpartition('/')[2]}"))
    name, enabled = copy.select_one("#name"), copy.select_one("#enabled")
    assert name is not None
    assert enabled is not None
    assert name["value"] == "Reminder (copy)"
    assert not enabled.has_attr("checked")
