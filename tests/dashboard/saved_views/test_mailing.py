"""Who is to hear that a view warns, and what each of them sees of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.cli.seen_views import ConsoleViews
from dashboard.exports.sources import SOURCES
from dashboard.operators.models import Operator, operator_congregations
from tasks.lanes import rollups
from tasks.models import (
    AdminMail,
    AuditEntry,
    ExecutionState,
    OperationKind,
    SavedView,
    ViewWarning,
    new_id,
)
from tasks.models.base import Json
from tasks.models.operation import Operation
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.operators import operator

Sessions = sessionmaker[Session]
NEW = "/views/new/executions?state=failed"


@pytest.fixture
def read(engine: Engine) -> ConsoleViews:
    """Return what the worker asks, on both databases in turn."""
    return ConsoleViews(engine)


def _congregation(session: Session, slug: str, n_failed: int) -> UUID:
    of = factories.congregation(session, slug)
    rule = factories.rule(session, of)
    for _ in range(n_failed):
        factories.execution(session, rule, state=ExecutionState.FAILED)
    return of


def _person(session: Session, email: str, role: str, *of: UUID) -> Operator:
    row = operator(session, email, role, sees_all=not of)
    for congregation_id in of:
        session.execute(
            operator_congregations.insert(),
            {"operator_id": row.id, "congregation_id": congregation_id},
        )
    return row


def _view(session: Session, owner: Operator, **values: object) -> SavedView:
    view = SavedView(
        **{
            "owner_id": owner.id,
            "owner": owner.email,
            "list_name": "executions",
            "name": "Failed",
            "filter": {"state": "failed"},
            "alert_at": 2,
            "by_mail": True,
            "look_at": NOW,
        }
        | values
    )
    session.add(view)
    session.flush()
    return view


def _seen(read: ConsoleViews, view: SavedView) -> dict[str, int | None]:
    return {one.address.partition("@")[0]: one.n for one in read(view, NOW)}


def test_a_shared_view_is_told_to_operators_of_its_congregation_and_its_owner(
    make_session: Sessions, read: ConsoleViews
) -> None:
    with make_session.begin() as session:
        here = _congregation(session, "here", 2)
        there = _congregation(session, "there", 1)
        _person(session, "admin@e.org", "admin")
        owner = _person(session, "owner@e.org", "operator", here)
        _person(session, "both@e.org", "operator", here, there)
        _person(session, "viewer@e.org", "viewer", here)
        _person(session, "stranger@e.org", "admin", there)
        _person(session, "gone@e.org", "admin", here).active = False
        shared = _view(session, owner, is_shared=True, congregation_id=here, alert_at=9)
        of_all = _view(session, owner, name="All", is_shared=True, alert_at=2)
        mine = _view(session, owner, name="Mine")
    assert _seen(read, shared) == {"admin": 3, "owner": 2, "both": 3}
    # Counting stops where it warns, and nobody sees more by it.
    everybody = {"admin": 2, "owner": 2, "both": 2, "stranger": 1}
    assert _seen(read, of_all) == everybody
    assert _seen(read, mine) == {"owner": 2}


def test_a_viewer_hears_of_their_own_and_nobody_of_lists_they_may_not_see(
    make_session: Sessions, read: ConsoleViews
) -> None:
    with make_session.begin() as session:
        here = _congregation(session, "here", 1)
        viewer = _person(session, "viewer@e.org", "viewer", here)
        admin = _person(session, "admin@e.org", "admin", here)
        _person(session, "operator@e.org", "operator", here)
        mine = _view(session, viewer)
        tokens = _view(session, admin, list_name="tokens", filter={}, is_shared=True)
        nowhere = _view(session, _person(session, "new@e.org", "viewer", here))
        session.execute(
            operator_congregations.delete().where(
                operator_congregations.c.operator_id == nowhere.owner_id
            )
        )
    assert _seen(read, mine) == {"viewer": 1}
    assert _seen(read, tokens) == {"admin": 0}
    assert _seen(read, nowhere) == {"new": 0}


def test_today_is_that_of_each_reader_and_operations_of_one_s_own_count(
    make_session: Sessions, read: ConsoleViews
) -> None:
    with make_session.begin() as session:
        here = factories.congregation(session)
        rule = factories.rule(session, here)
        factories.execution(session, rule, due_at=NOW - timedelta(hours=5))
        east = _person(session, "east@e.org", "operator", here)
        west = _person(session, "west@e.org", "operator", here)
        east.timezone, west.timezone = "Pacific/Auckland", "America/New_York"
        today = _view(session, east, filter={"q": "due:today"}, is_shared=True)
        session.add(
            Operation(
                kind=OperationKind.RETRY_EXECUTIONS,
                matching={},
                n_total=1,
                actor=west.email,
                high_water=NOW,
                touched_at=NOW,
            )
        )
        asked = _view(session, east, list_name="operations", filter={}, is_shared=True)
    # It was at 3 o'clock of this day in New York; in Auckland the day after has begun.
    assert _seen(read, today) == {"east": 0, "west": 1}
    assert _seen(read, asked) == {"east": 0, "west": 1}


#: Where lists within a thing are.
PLACES: Mapping[str, Json] = {
    "ledger": {"slug": "here"},
    "versions": {"rule_id": "01890a5d-ac96-774b-bcce-b302099a8057"},
}


@pytest.mark.parametrize("list_name", sorted(SOURCES))
def test_every_list_can_be_counted_outside_of_the_console(
    make_session: Sessions, read: ConsoleViews, list_name: str
) -> None:
    with make_session.begin() as session:
        here = _congregation(session, "here", 1)
        owner = _person(session, "owner@e.org", "admin", here)
        view = _view(
            session, owner, list_name=list_name, filter=PLACES.get(list_name, {})
        )
        lost = _view(session, owner, name="Lost", filter={"q": "gone:field"})
        strange = _view(session, owner, name="Strange", list_name="no list")
    assert isinstance(_seen(read, view)["owner"], int)
    assert _seen(read, lost) == {"owner": None}
    assert _seen(read, strange) == {}


def test_the_lane_tells_whom_it_concerns(
    make_session: Sessions, read: ConsoleViews
) -> None:
    with make_session.begin() as session:
        here = _congregation(session, "here", 2)
        there = _congregation(session, "there", 1)
        owner = _person(session, "owner@e.org", "operator", here)
        owner.language = "fr"
        _person(session, "stranger@e.org", "admin", there)
        _view(session, owner, is_shared=True)
    for _ in range(2):
        rollups.sweep(bench(make_session, lambda: NOW, FakePost(), views=read), 10)
    with make_session() as session:
        (mail,) = session.scalars(select(AdminMail))
        assert (mail.address, mail.language) == ("owner@e.org", "fr")


def test_the_tick_is_kept_told_and_begins_anew_when_changed(
    log_in: Callable[..., Browser], sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        here = _congregation(session, "here", 2)
    browser = log_in("operator", sees_all=False, congregations=[here])
    wish = {"name": "Failed", "audience": str(here), "by_mail": "y"}
    refused = browser.post(NEW, data=wish)
    assert refused.status_code == 422
    assert "Say above from how many rows on it warns." in refused.text
    saved = browser.post(NEW, data=wish | {"alert_at": "2"})
    assert saved.status_code == 303
    assert "also by mail" in browser.get("/views/").text
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        view = session.scalars(select(SavedView)).one()
        assert view.by_mail
        row = ViewWarning(saved_view_id=view.id, operator_id=new_id(), warned_at=NOW)
        session.add(row)
        entry = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "view.shared")
        ).one()
        assert entry.after
        assert entry.after["by_mail"] is True
    shown = BeautifulSoup(browser.get(f"/views/{view.id}").text, "html.parser")
    assert shown.select_one("#by_mail[checked]")
    went = browser.get(f"/views/{view.id}/rows")
    assert went.headers["Location"] == "/executions/?state=failed"
    assert browser.get(f"/views/{new_id()}/rows").status_code == 404

    def n_told(**changes: str) -> int:
        browser.post(f"/views/{view.id}", data=wish | {"alert_at": "2"} | changes)
        with Session(sqlite_engine) as session:
            return len(session.scalars(select(ViewWarning)).all())

    assert n_told(name="Other name") == 1
    assert n_told(alert_at="3") == 0
    browser.post(f"/views/{view.id}/delete")
    assert _views_left(sqlite_engine) == 0


def _views_left(engine: Engine) -> int:
    with Session(engine) as session:
        return len(session.scalars(select(SavedView)).all())
