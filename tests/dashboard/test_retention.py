"""The pages of retention: the clock, who has to stay, the dry run, the ledger."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from dashboard.operators.models import RoleName
from tasks.clock import utcnow
from tasks.congregation.retention.holding import hold
from tasks.db import sessions
from tasks.lanes.retention import sweep
from tasks.models import AuditEntry, Congregation, DailyRun, Group, Member
from tests.dashboard.conftest import Browser
from tests.support import factories, people_rows, territory_rows
from tests.support.fakes import FakePost, bench
from tests.support.people_rows import CLERK

LONG_AGO = date(2020, 1, 31)
HOME = "/retention/st-mary"


@pytest.fixture
def people(sqlite_engine: Engine, congregation: Congregation) -> dict[str, UUID]:
    """Return members who left: one is due, one leads a group, one is held, one new."""
    now, of = utcnow(), congregation.id
    days = {"Due": LONG_AGO, "Head": LONG_AGO, "Held": LONG_AGO}
    days["Soon"] = now.date() - timedelta(days=175)
    with Session(sqlite_engine) as session, session.begin():
        found = {
            name: people_rows.left(session, of, on, first_name=name, last_name="Abend")
            for name, on in days.items()
        }
        people_rows.responsible(session, of, "Nordgruppe", found["Head"])
        until = now.date() + timedelta(days=400)
        hold(session, found["Held"], until, "Court case", CLERK, now=now)
    return found


def words(answer: Any) -> str:
    return " ".join(answer.get_data(as_text=True).split())


def run(engine: Engine) -> None:
    sweep(bench(sessions(engine), utcnow, FakePost()), 100)


def n_erased(engine: Engine) -> int:
    gone = select(func.count()).where(Member.anonymised_at.is_not(None))
    with Session(engine) as session:
        return session.scalar(gone) or 0


def test_an_empty_congregation_says_so(
    as_viewer: Browser, congregation: Congregation
) -> None:
    page = words(as_viewer.get("/retention/"))
    assert "St Mary" in page
    assert "never" in page
    page = words(as_viewer.get(HOME))
    assert "Nobody has left" in page
    assert "How long names are kept" not in page  # that is for admins
    assert "Nobody was erased yet" in words(as_viewer.get(f"{HOME}/ledger"))
    assert "Nobody would be anonymised" in words(as_viewer.get(f"{HOME}/dry-run"))


def test_the_clock_says_when_and_why_not(
    as_admin: Browser, people: dict[str, UUID]
) -> None:
    page = words(as_admin.get(HOME))
    assert page.count("goes with the next run") == 1
    assert "has to stay: responsible for" in page
    assert "Court case" in page
    assert "31 July 2020" in page
    assert page.count("Anonymise now") == 2  # nothing speaks against it


def test_the_clock_is_paged(
    as_viewer: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        for number in range(60):
            on = LONG_AGO + timedelta(days=number)
            people_rows.left(session, congregation.id, on, last_name=f"N{number:02}")
    first = as_viewer.get(HOME).get_data(as_text=True)
    assert ("N00" in first, "N49" in first, "N50" in first) == (True, True, False)
    link = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "N50" in as_viewer.get(link).get_data(as_text=True)
    assert as_viewer.get(f"{HOME}?cursor=W10").status_code == 400


def test_who_has_to_stay_is_listed_until_somebody_takes_over(
    as_viewer: Browser,
    people: dict[str, UUID],
    congregation: Congregation,
    sqlite_engine: Engine,
) -> None:
    run(sqlite_engine)
    page = words(as_viewer.get(HOME))
    assert f"blocked-{people['Head']}" in page
    assert "Nordgruppe" in page
    assert f"clock-{people['Due']}" not in page
    with Session(sqlite_engine) as session, session.begin():
        heir = territory_rows.member(session, congregation.id)
        session.execute(update(Group).values(responsible_id=heir))
    page = words(as_viewer.get(HOME))
    assert "Have to stay for now" not in page
    assert f"clock-{people['Head']}" in page
    assert "goes with the next run" in page


def test_a_dry_run_counts_and_changes_nothing(
    as_viewer: Browser, people: dict[str, UUID], sqlite_engine: Engine
) -> None:
    page = words(as_viewer.get(f"{HOME}/dry-run"))
    assert f"due-{people['Due']}" in page
    assert f"due-{people['Head']}" not in page
    assert f"due-{people['Soon']}" not in page
    page = words(as_viewer.get(f"{HOME}/dry-run?months=3"))
    assert f"due-{people['Soon']}" in page
    assert "instead of the 6 that are set" in page
    for wrong in ("0", "121", "-1", "x", "٣", "9" * 400):
        page = words(as_viewer.get(f"{HOME}/dry-run", query_string={"months": wrong}))
        assert "with 6 months" in page
    assert n_erased(sqlite_engine) == 0


def test_a_failed_run_is_told_on_the_page(
    as_viewer: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        values = {"lane": "retention", "failed_at": utcnow(), "error": "disk full"}
        session.add(DailyRun(congregation_id=congregation.id, **values))
    assert "disk full" in words(as_viewer.get(HOME))
    assert "failed" in words(as_viewer.get("/retention/"))


def test_admins_say_how_many_months(
    as_admin: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    for wrong in ("", "0", "121", "1.5", "six", "-3", "9" * 400):
        answer = as_admin.post(f"{HOME}/months", data={"months": wrong})
        assert answer.status_code == 422
        assert "from 1 to 120" in words(answer)
    for _ in range(2):  # saying it twice is no error
        answer = as_admin.post(f"{HOME}/months", data={"months": " 24 "})
        assert answer.status_code == 303
    with Session(sqlite_engine) as session:
        assert session.scalars(select(Congregation.retention_months)).one() == 24
        told = select(AuditEntry).filter_by(action="retention.changed")
        assert session.scalars(told).one().actor == "admin@example.org"


def test_anonymising_wants_the_name_typed(
    as_admin: Browser, people: dict[str, UUID], sqlite_engine: Engine
) -> None:
    path = f"/retention/members/{people['Soon']}"
    assert "Soon Abend" in words(as_admin.get(path))
    for wrong in ("", "Abend", "Due Abend", "x" * 5000):
        answer = as_admin.post(path, data={"name": wrong})
        assert answer.status_code == 422
        assert "Type the name as it stands here" in words(answer)
    assert n_erased(sqlite_engine) == 0
    answer = as_admin.post(path, data={"name": "Soon  Abend "}, follow_redirects=True)
    assert f"from now on this is #{people['Soon'].hex[-10:]}" in words(answer)
    assert n_erased(sqlite_engine) == 1
    assert str(people["Soon"]) in words(as_admin.get(f"{HOME}/ledger"))
    again = as_admin.post(path, data={"name": "Soon Abend"})
    assert again.status_code == 422
    assert "anonymised already" in words(again)


def test_a_group_or_a_hold_is_told_instead(
    as_admin: Browser, people: dict[str, UUID], sqlite_engine: Engine
) -> None:
    page = words(as_admin.get(f"/retention/members/{people['Head']}"))
    assert "is responsible for" in page
    assert "Anonymise for good" not in page
    for name, sentence in (("Head", "put somebody else"), ("Held", "end the hold")):
        answer = as_admin.post(
            f"/retention/members/{people[name]}", data={"name": f"{name} Abend"}
        )
        assert answer.status_code == 422
        assert sentence in words(answer)
    assert n_erased(sqlite_engine) == 0


def test_others_than_admins_may_only_look(
    as_operator: Browser, people: dict[str, UUID], sqlite_engine: Engine
) -> None:
    path = f"/retention/members/{people['Due']}"
    assert as_operator.get(HOME).status_code == 200
    assert "Anonymise now" not in words(as_operator.get(HOME))
    assert as_operator.get(path).status_code == 403
    assert as_operator.post(path, data={"name": "Due Abend"}).status_code == 403
    assert as_operator.post(f"{HOME}/months", data={"months": "1"}).status_code == 403
    assert n_erased(sqlite_engine) == 0


def test_an_admin_of_another_congregation_sees_and_erases_nobody(
    log_in: Callable[..., Browser], people: dict[str, UUID], sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        other = factories.congregation(session, "other")
    stranger = log_in(RoleName.ADMIN, sees_all=False, congregations=[other])
    assert "St Mary" not in words(stranger.get("/retention/"))
    path = f"/retention/members/{people['Due']}"
    for answer in (
        stranger.get(HOME),
        stranger.get(f"{HOME}/ledger"),
        stranger.get(f"{HOME}/dry-run"),
        stranger.post(f"{HOME}/months", data={"months": "1"}),
        stranger.get(path),
        stranger.post(path, data={"name": "Due Abend"}),
    ):
        assert answer.status_code == 404
    assert n_erased(sqlite_engine) == 0
