"""The preview of a rule: what a real guest would get, before anything is saved."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import Episode, EpisodeGuest
from tests.dashboard.rules.conftest import HTMX, XSS, hook, mail, soup, words
from tests.support import factories


def test_the_preview_is_what_a_real_booking_would_get(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = mail(house, text='On {{ booking.start_time | date: "%Y" }}, <b>')
    fragment = as_operator.post("/rules/preview", data=data, headers=HTMX)
    whole = as_operator.post("/rules/preview", data=data)

    text = words(fragment)
    assert "joerg@example.org" in text
    assert "Hello Jörg 🎙" in text
    assert f"On {(utcnow() + timedelta(days=2)).year}" in text
    assert "<b>" not in fragment.get_data(as_text=True)
    assert text in words(whole)


def test_the_preview_says_what_is_missing(
    as_operator: FlaskClient, house: UUID
) -> None:
    for values, part in (
        ({"subject": "{{ guest.nope }}"}, "no value"),
        ({"text": "{{ episode.title }}"}, "episode.title"),
        ({"trigger_type": "nothing"}, "Choose what starts"),
        ({"scope": "nowhere"}, "Choose what starts"),
    ):
        answer = as_operator.post(
            "/rules/preview", data=mail(house, **values), headers=HTMX
        )
        assert answer.status_code == 200
        assert part in words(answer)


def test_invented_values_help_where_nothing_is_real(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        id_ = factories.congregation(session)
    answer = as_operator.post("/rules/preview", data=mail(id_, sample=""), headers=HTMX)
    assert "Hello Example" in words(answer)


def test_a_webhooks_preview_is_its_body(as_operator: FlaskClient, house: UUID) -> None:
    answer = as_operator.post("/rules/preview", data=hook(house), headers=HTMX)

    text = words(answer)
    assert "POST https://example.org/hook" in text
    assert '"type": "booking.confirmed"' in text
    assert "Jörg" in text


@pytest.mark.parametrize(
    ("trigger", "sample", "part"),
    [
        ("episode.published", "e1", "On bells"),
        ("guest.responded", "g1", "Grace"),
        ("time.before_publish", "e1", "On bells"),
    ],
)
def test_a_rule_is_tried_on_what_its_trigger_is_about(
    as_operator: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    trigger: str,
    sample: str,
    part: str,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.add_all(
            [
                Episode(
                    congregation_id=house, id="e1", podcast_id="show", title="On bells"
                ),
                EpisodeGuest(
                    congregation_id=house,
                    id="g1",
                    podcast_id="show",
                    episode_id="e1",
                    name="Grace",
                    email="grace@example.org",
                    access_token="let-me-in",
                ),
            ]
        )
    data = mail(
        house,
        trigger_type=trigger,
        sample=sample,
        recipient="host",
        subject="{{ episode.title }} {{ guest.name | default: '' }}",
    )
    answer = as_operator.post("/rules/preview", data=data, headers=HTMX)

    assert part in words(answer)
    assert "ines@example.org" in words(answer)
    assert "let-me-in" not in answer.get_data(as_text=True)


def test_a_mails_html_stands_in_a_frame_that_can_do_nothing(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = mail(house, html="<h1 style='color:red'>{{ guest.name }}</h1>" + XSS)
    shown = soup(as_operator.post("/rules/preview", data=data, headers=HTMX))
    frame, form = shown.select_one("iframe"), shown.select_one("form.mail-form")
    assert frame is not None
    assert form is not None
    assert "sandbox" in frame.attrs
    assert not frame["sandbox"]  # nothing is allowed
    assert form["target"] == frame["name"]

    sent = {str(one["name"]): str(one["value"]) for one in form.select("input")}
    answer = as_operator.post(str(form["action"]), data=sent)
    assert answer.status_code == 200
    assert "<h1 style='color:red'>Jörg 🎙</h1>" in answer.get_data(as_text=True)
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox;")
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
