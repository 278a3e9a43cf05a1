"""The pages of sources: services that call, and their secrets."""

from __future__ import annotations

from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.config import Config
from tasks.models import AuditEntry, Booking, CallOutcome, Congregation
from tasks.secrets import SecretBox
from tests.dashboard.sources.conftest import (
    add_source,
    call_hook,
    shown_secret,
    source_page,
)


def test_a_new_source_shows_its_secret_once_and_takes_calls_with_it(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    made = add_source(as_admin, podcast)
    assert made.status_code == 201
    secret, source = shown_secret(made), source_page(sqlite_engine)
    assert f"http://localhost/hooks/{source.token}" in made.text
    assert secret not in source.secret

    answer = call_hook(client, source, secret)
    assert answer.status_code == 200, answer.text
    assert answer.get_json()["outcome"] == "applied"
    page = as_admin.get(f"/sources/{source.id}").text
    assert secret not in page
    assert "The booking is confirmed." in page
    assert "BOOKING_CREATED" in page
    assert source.token in page
    assert "BOOKING" not in as_admin.get("/sources/").text
    assert "Applied" in as_admin.get("/sources/").text


def test_a_secret_that_the_service_made_is_kept(
    as_admin: FlaskClient,
    podcast: str,
    sqlite_engine: Engine,
    config: Config,
) -> None:
    add_source(as_admin, podcast, kind="calendly", secret="theirs-and-long")
    box = SecretBox(config.secret_key)
    assert box.unseal(source_page(sqlite_engine).secret) == "theirs-and-long"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "Give it a name"),
        ({"name": "x" * 121}, "Give it a name"),
        ({"podcast_id": ""}, "Choose one of the podcasts"),
        ({"podcast_id": "nonsense/show"}, "Choose one of the podcasts"),
        ({"podcast_id": f"{UUID(int=1)}/show"}, "There is no such podcast"),
        ({"kind": "doodle"}, "Choose a service"),
        ({"secret": "short"}, "A secret has 8 to 200"),
        ({"secret": "ünprintäble-secret"}, "A secret has 8 to 200"),
    ],
)
def test_a_source_that_cannot_be_is_refused_in_words(
    as_admin: FlaskClient, podcast: str, changes: dict[str, str], words: str
) -> None:
    answer = add_source(as_admin, podcast, **changes)
    assert answer.status_code == 422
    assert words in answer.text


def test_operators_look_at_sources_and_only_admins_change_them(
    as_admin: FlaskClient,
    as_operator: FlaskClient,
    podcast: str,
    sqlite_engine: Engine,
) -> None:
    add_source(as_admin, podcast)
    path = f"/sources/{source_page(sqlite_engine).id}"
    assert as_operator.get(path).status_code == 200
    assert as_operator.get(f"{path}/edit").status_code == 403
    for verb in ("", "/secret", "/delete"):
        assert as_operator.post(path + verb).status_code == 403
    assert add_source(as_operator, podcast).status_code == 403


def test_event_types_are_given_to_booking_links(
    as_admin: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    add_source(as_admin, podcast)
    path = f"/sources/{source_page(sqlite_engine).id}"
    values = {"name": "Talks", "only_listed": "y"}
    for types, words in [
        ("interview", "Line 1 must say"),
        ("\ninterview = ", "Line 2 must say"),
        ("interview = l2", "no booking link “l2”"),
        ("\n".join(f"e{n} = l1" for n in range(51)), "At most 50"),
    ]:
        answer = as_admin.post(path, data=values | {"event_types": types})
        assert answer.status_code == 422
        assert words in answer.text
    as_admin.post(path, data=values | {"event_types": "interview = l1\nA = B = l1"})
    source = source_page(sqlite_engine)
    assert source.event_types == {"interview": "l1", "A = B": "l1"}
    assert (source.name, source.only_listed) == ("Talks", True)
    assert "interview = l1" in as_admin.get(f"{path}/edit").text


def test_a_replaced_secret_shuts_out_the_former_one(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    former = shown_secret(add_source(as_admin, podcast))
    source = source_page(sqlite_engine)
    again = shown_secret(as_admin.post(f"/sources/{source.id}/secret"))
    assert call_hook(client, source, former).status_code == 401
    assert call_hook(client, source, again).status_code == 200
    refused = as_admin.post(f"/sources/{source.id}/secret", data={"secret": "short"})
    assert "A secret has" in as_admin.get(refused.location).text


def test_a_removed_source_is_gone_and_its_bookings_stay(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = shown_secret(add_source(as_admin, podcast))
    source = source_page(sqlite_engine)
    call_hook(client, source, secret)
    as_admin.post(f"/sources/{source.id}/delete")
    assert as_admin.get(f"/sources/{source.id}").status_code == 404
    assert call_hook(client, source, secret).status_code == 404
    with Session(sqlite_engine) as session:
        assert len(session.scalars(select(Booking)).all()) == 1
        actions = set(session.scalars(select(AuditEntry.action)))
    assert {"source.added", "source.removed"} <= actions
    assert as_admin.get("/audit/").status_code == 200


def test_without_a_podcast_the_forms_say_what_is_missing(
    as_admin: FlaskClient, as_operator: FlaskClient, congregation: Congregation
) -> None:
    for path in ("new", "feeds/new", "guests/new"):
        page = as_admin.get(f"/sources/{path}").text
        assert "There is no podcast yet" in page
        assert "curl -X PUT http://localhost" in page
        assert 'href="/tokens/new"' in page
    page = as_operator.get("/sources/guests/new").text
    assert "/tokens/new" not in page
    assert "an admin makes one" in page


def test_every_outcome_has_a_look() -> None:
    from dashboard import states
    from tasks.sources.guests import LineOutcome

    words = {word.value for kind in (CallOutcome, LineOutcome) for word in kind}
    assert words | {"waiting", "following", "failing"} <= set(states.LOOKS)
