"""The pages of a story, and the lists that lead to it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from dashboard.congregations.places import Place
from tasks.clock import utcnow
from tasks.errors import InvalidInput
from tasks.models import Episode, EpisodeGuest
from tests.dashboard.timeline.conftest import MINUTE, event
from tests.support import factories
from tests.support.factories import NOW

ID = UUID("019cd79e-4600-7080-8092-e5f58b4de950")


@pytest.mark.parametrize(
    "cursor",
    ["x", "~~~", f"{NOW:%Y-%m-%d}~0~{ID}~0", f"{NOW.isoformat()}~0~z~0"]
    + [f"{NOW.isoformat()}~0~{ID}~{n}" for n in ("-1", "9" * 30)],
)
def test_a_cursor_that_is_none_of_ours_is_refused_in_words(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="go to its start"):
        Place.read(cursor)


def test_the_pages_show_the_story_and_lead_on(
    as_viewer: FlaskClient, sqlite_engine: Engine, log_in: Callable[..., FlaskClient]
) -> None:
    evil = "<script>alert(1)</script>"
    with Session(sqlite_engine) as session, session.begin():
        of = factories.congregation(session)
        about = {"congregation_id": of, "podcast_id": "show"}
        session.add(Episode(**about, id="e1", title=evil, scheduled_for=utcnow()))
        session.add(EpisodeGuest(**about, id="g1", name="Ada", episode_id="e1"))
        factories.booking(session, of, episode_id="e1", guest_id="g1")
        for n in range(60):
            event(session, of, NOW + n * MINUTE, episode_id="e1", guest_id="g1")
    for path in ("bookings/b1", "episodes/e1", "guests/g1"):
        page = as_viewer.get(f"/congregations/bonifatius/{path}").text
        assert page.count('data-kind="event"') == 50
        assert evil not in page
        assert f"/why/bonifatius/{path}" in page
        link = page.split('rel="next" href="')[1].split('"')[0]
        older = as_viewer.get(link.replace("&amp;", "&")).text
        assert older.count('data-kind="event"') == 10
        assert "What happened earlier" in older
        assert "Still to come" not in older
    answer = as_viewer.get("/congregations/bonifatius/episodes/e1?cursor=nonsense")
    assert answer.status_code == 400
    assert "go to its start" in answer.text
    assert as_viewer.get("/congregations/bonifatius/guests/nobody").status_code == 404


def test_every_list_leads_to_the_story_of_whom_it_names(
    as_viewer: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        of = factories.congregation(session)
        about = {"congregation_id": of, "podcast_id": "show"}
        session.add(Episode(**about, id="e1", title="Bells"))
        session.add(EpisodeGuest(**about, id="g1", name="Ada"))
        factories.booking(session, of)
        rule = factories.rule(session, of)
        for values in (
            {"booking_id": "b1"},
            {"booking_id": None, "episode_id": "e1"},
            {"booking_id": None, "guest_id": "g1"},
        ):
            event(session, of, utcnow(), **values)
            factories.execution(session, rule, **values)
            factories.job(session, rule, **values)
    for path in ("/", "/executions/", "/scheduled/", "/events/"):
        page = as_viewer.get(path).text
        for of_record in ("bookings/b1", "episodes/e1", "guests/g1"):
            assert f'href="/congregations/bonifatius/{of_record}"' in page, path
