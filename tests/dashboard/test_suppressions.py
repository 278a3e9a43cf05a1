"""The page of suppressions: look, stop, allow again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.operators.models import RoleName
from tasks.models import AuditEntry, Congregation, Suppression, SuppressionReason
from tasks.operations.audit import Actor
from tasks.operations.suppressions import suppress, unsubscribe
from tests.dashboard.conftest import Browser


def words(answer: Any) -> str:
    return str(answer.get_data(as_text=True))


def entry(congregation: Congregation, **changes: str) -> dict[str, str]:
    return {
        "address": "Zoe@Example.org",
        "congregation_id": str(congregation.id),
        "reason": "asked",
        "note": "by phone",
        **changes,
    }


def stopped(engine: Engine, congregation: Congregation, address: str) -> str:
    with Session(engine) as session, session.begin():
        row = suppress(
            session,
            congregation.id,
            address,
            SuppressionReason.BOUNCED,
            Actor("system"),
        )
        return str(row.id)


def test_an_empty_list_says_so(as_viewer: Browser) -> None:
    page = words(as_viewer.get("/suppressions/"))
    assert "Everybody gets mails" in page
    assert "Stop an address" not in page


def test_an_address_is_stopped_and_shown(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    answer = as_operator.post("/suppressions/", data=entry(congregation))
    assert answer.status_code == 303

    page = words(as_operator.get("/suppressions/"))
    for text in ("zoe@example.org", "St Mary", "They asked for no mails", "by phone"):
        assert text in page
    with Session(sqlite_engine) as session:
        (told,) = session.scalars(
            select(AuditEntry).filter_by(subject_kind="suppression")
        )
        assert told.actor == "operator@example.org"


def test_one_agent_alone_may_be_stopped_beside_everybody(
    as_operator: Browser, congregation: Congregation
) -> None:
    for agent in ("Sales@Agents.org", "", "sales@agents.org"):
        answer = as_operator.post(
            "/suppressions/", data=entry(congregation, agent=agent)
        )
    assert answer.status_code == 422
    assert "on the list already" in words(answer)
    page = words(as_operator.get("/suppressions/"))
    assert page.count("for sales@agents.org alone") == 1
    assert page.count("zoe@example.org</strong>") == 2


def test_who_unsubscribed_is_shown_with_who_did_it(
    as_viewer: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        unsubscribe(session, congregation.id, "zoe@example.org")

    page = words(as_viewer.get("/suppressions/"))
    assert "They unsubscribed" in page
    assert "the recipient" in page
    assert 'aria-disabled="true"' in page  # a viewer cannot lift it
    french = {"Accept-Language": "fr"}
    page = words(as_viewer.get("/suppressions/", headers=french))
    assert "le destinataire" in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"address": ""}, "not an e-mail address"),
        ({"address": "a@b.org, c@d.org"}, "Give one e-mail address"),
        ({"address": "a\x00@b.org"}, "control characters"),
        ({"agent": "sales"}, "not an e-mail address"),
        ({"note": "x" * 201}, "at most 200 characters"),
        ({"reason": "unsubscribed"}, "Choose why."),
        ({"reason": "nosuch"}, "Choose why."),
        ({"congregation_id": ""}, "Choose a congregation."),
        ({"congregation_id": "x"}, "Choose a congregation."),
    ],
)
def test_wrong_input_is_told_at_its_field(
    as_operator: Browser,
    congregation: Congregation,
    changes: dict[str, str],
    sentence: str,
) -> None:
    answer = as_operator.post("/suppressions/", data=entry(congregation, **changes))
    assert answer.status_code == 422
    assert sentence in words(answer)


def test_an_address_is_not_listed_twice(
    as_operator: Browser, congregation: Congregation
) -> None:
    as_operator.post("/suppressions/", data=entry(congregation))
    answer = as_operator.post("/suppressions/", data=entry(congregation))
    assert answer.status_code == 422
    assert "on the list already" in words(answer)


def test_lifting_takes_it_off(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    row = stopped(sqlite_engine, congregation, "zoe@example.org")

    answer = as_operator.post(f"/suppressions/{row}/lift", follow_redirects=True)

    assert "zoe@example.org gets mails again." in words(answer)
    with Session(sqlite_engine) as session:
        assert session.scalars(select(Suppression)).all() == []
    assert as_operator.post(f"/suppressions/{row}/lift").status_code == 404


def test_viewers_may_look_but_not_act(
    as_viewer: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    row = stopped(sqlite_engine, congregation, "zoe@example.org")
    assert as_viewer.get("/suppressions/new").status_code == 403
    assert as_viewer.post("/suppressions/", data=entry(congregation)).status_code == 403
    assert as_viewer.post(f"/suppressions/{row}/lift").status_code == 403


def test_the_filter_compares_beginnings(
    as_viewer: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    for address in ("zoe@example.org", "max@example.org", "z_e@example.org"):
        stopped(sqlite_engine, congregation, address)

    page = words(as_viewer.get("/suppressions/?q=Z_"))
    assert "z_e@example.org" in page
    assert "zoe@example.org" not in page
    assert "No address on the list begins so" in words(
        as_viewer.get("/suppressions/?q=nobody%00%0a")
    )
    assert as_viewer.get("/suppressions/?cursor=bad").status_code == 400


def test_nobody_sees_or_lifts_another_congregations_entries(
    log_in: Callable[..., Browser], congregation: Congregation, sqlite_engine: Engine
) -> None:
    row = stopped(sqlite_engine, congregation, "zoe@example.org")
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        other = Congregation(slug="other", name="Other")
        session.add(other)
    stranger = log_in(RoleName.OPERATOR, sees_all=False, congregations=[other.id])

    assert "zoe@example.org" not in words(stranger.get("/suppressions/"))
    assert stranger.post(f"/suppressions/{row}/lift").status_code == 404
    answer = stranger.post("/suppressions/", data=entry(congregation))
    assert answer.status_code == 422
