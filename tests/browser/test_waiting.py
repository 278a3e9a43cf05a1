"""Why it waits, where somebody has to do something: a busy lane, and no worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page, expect
from sqlalchemy import make_url

from tasks.clock import utcnow
from tasks.db import make_engine, sessions
from tasks.models import Congregation, Transfer, TransferKind
from tasks.models.long_job import LongJobState
from tests.browser import steps
from tests.browser.installation import Carillon, console_alone
from tests.support.processes import worker


@contextmanager
def _another_under_way(parish: Carillon) -> Iterator[None]:
    """Let the lane of transfers be at one of another congregation, in the block."""
    engine = make_engine(make_url(f"sqlite:///{parish.database}"))
    begin, now = sessions(engine).begin, utcnow()
    with begin() as session:
        elsewhere = Congregation(slug=f"{parish.slug}-elsewhere", name="Elsewhere")
        session.add(elsewhere)
        session.flush()
        transfer = Transfer(
            congregation_id=elsewhere.id,
            kind=TransferKind.EXPORT,
            requested_by="ben@example.org",
            state=LongJobState.RUNNING,
            attempt=1,
            started_at=now,
            lease_until=now + timedelta(hours=1),
        )
        session.add(transfer)
    try:
        yield
    finally:
        with begin() as session:
            transfer = session.get_one(Transfer, transfer.id)
            transfer.state, transfer.lease_until = LongJobState.CANCELLED, None
        engine.dispose()


def test_an_export_whose_lane_is_busy_says_so_and_begins_by_itself(
    page: Page, parish: Carillon
) -> None:
    why = page.locator("#why-waiting")
    with _another_under_way(parish), steps.paused(page, parish, "data_transfer"):
        page.goto(f"{parish.url}/transfers/export")
        page.get_by_role("button", name="Export").click()
        expect(why).to_contain_text("was paused by ines@example.org at")
        expect(why).to_contain_text(
            "Its lane does one at a time, and is at another one."
        )
        expect(why).to_contain_text("Nobody can say when it begins.")
        page.goto(f"{parish.url}/transfers/")
        row = page.locator("#transfers tbody tr")
        expect(row).to_contain_text("lane paused")
        row.get_by_role("link").first.click()
        expect(why).to_be_visible()
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    expect(why).to_have_count(0)


def test_without_a_worker_it_says_so_and_begins_once_one_starts(
    page: Page, tmp_path: Path
) -> None:
    why = page.locator("#why-waiting")
    with console_alone(tmp_path) as (carillon, environ):
        with worker(environ):
            steps.become_first_admin(page, carillon)
            steps.make_congregation(page, carillon)
            steps.make_token(page, carillon)
            steps.make_rule(page, carillon, "Welcome", "booking.confirmed")
        steps.book(carillon, "b1", "Ada")
        carillon.call("POST", "/bookings/b1/confirm")
        page.goto(f"{carillon.url}/executions/")
        row = page.locator("#executions tbody tr")
        expect(row).to_contain_text("no worker")
        row.get_by_role("link", name="Welcome").click()
        expect(why).to_contain_text("No worker is alive; it begins once one starts.")
        expect(why).to_contain_text("Nobody can say when it begins.")
        assert carillon.letters(0) == []
        with worker(environ):
            pill = page.locator("#execution-detail .pill").first
            expect(pill).to_have_text("Succeeded")
            expect(why).to_have_count(0)
            assert len(carillon.letters(1)) == 1
