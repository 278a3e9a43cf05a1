"""Notifications in the console: what waits, mails, retries, wishes, previews."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.notifications.groups import TITLES
from tasks.automation.actions.base import Done, GiveUp
from tasks.clock import utcnow
from tasks.congregation.notifications import News, notify_all
from tasks.congregation.notifications.kinds import CATEGORIES
from tasks.db import sessions
from tasks.lanes import email
from tasks.models import (
    AuditEntry,
    Congregation,
    DigestMail,
    MailState,
    Notification,
    NotificationPreference,
    NotificationState,
    Reason,
)
from tests.dashboard.conftest import Browser
from tests.support import notification_rows
from tests.support.confirming import confirm
from tests.support.fakes import FakePost, bench


@dataclass
class Board:
    """A congregation whose validators are told of documents."""

    make_session: sessionmaker[Session]
    id: UUID
    accounts: list[UUID]

    def tell(self, *titles: str) -> None:
        with self.make_session.begin() as session:
            ids = notification_rows.documents(session, self.id, *titles)
            news = [
                News("document.created", id_, {"title": title})
                for id_, title in zip(ids, titles, strict=True)
            ]
            notify_all(session, self.id, news, utcnow())

    def leave(self, post: FakePost) -> None:
        """Let what waits leave, and sweep."""
        with self.make_session.begin() as session:
            for row in session.scalars(select(Notification)):
                row.settles_at = utcnow()
        email.sweep(bench(self.make_session, utcnow, post), 100)

    def mails(self, state: MailState) -> list[UUID]:
        with self.make_session() as session:
            return [*session.scalars(select(DigestMail.id).filter_by(state=state))]


@pytest.fixture
def board(sqlite_engine: Engine, congregation: Congregation) -> Board:
    make_session = sessions(sqlite_engine)
    with make_session.begin() as session:
        accounts = notification_rows.validators(session, congregation.id, 2)
    return Board(make_session, congregation.id, accounts)


def text(browser: Browser, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_data(as_text=True)


def test_an_empty_page_says_what_will_be_here(as_viewer: Browser) -> None:
    page = text(as_viewer, "/notifications/")
    assert "No mail yet" in page
    assert "No account yet" in text(as_viewer, "/notifications/recipients")


def test_what_waits_is_grouped_and_can_leave_now(
    as_operator: Browser, board: Board
) -> None:
    board.tell("Minutes", "Roster")
    page = text(as_operator, "/notifications/")
    assert 'id="group-st-mary-document"' in page
    path = "/notifications/settling/st-mary/document"
    shown = text(as_operator, path)
    assert "Minutes" in shown
    assert "Board validators" in shown

    answer = as_operator.post(f"{path}/send", follow_redirects=True)
    assert "2 of it leave now" in answer.get_data(as_text=True)
    with board.make_session() as session:
        assert all(
            r.settles_at <= utcnow() for r in session.scalars(select(Notification))
        )
        entry = session.scalars(select(AuditEntry)).all()[-1]
        assert entry.action == "notification.sent_early"
    board.leave(FakePost())
    again = as_operator.post(f"{path}/send", follow_redirects=True)
    assert "Nothing of this waits any more." in again.get_data(as_text=True)
    assert "Nothing of this waits any more" in text(as_operator, path)


def test_mails_are_listed_with_their_reason_and_can_be_tried_again(
    as_operator: Browser, board: Board
) -> None:
    board.tell("Minutes")
    board.leave(FakePost(GiveUp(Reason.REFUSED, "550 no such user")))
    page = text(as_operator, "/notifications/?state=failed")
    assert page.count("550 no such user") == 2
    assert 'id="mails"' not in text(as_operator, "/notifications/?state=sent")
    one, other = board.mails(MailState.FAILED)
    shown = text(as_operator, f"/notifications/mails/{one}")
    assert "550 no such user" in shown
    assert "New document: Minutes" in shown

    answer = as_operator.post(
        f"/notifications/mails/{one}/retry", follow_redirects=True
    )
    assert "It is tried again." in answer.get_data(as_text=True)
    twice = as_operator.post(f"/notifications/mails/{one}/retry", follow_redirects=True)
    assert "Only a mail that failed can be tried again." in twice.get_data(as_text=True)
    post = FakePost(Done(250))
    board.leave(post)
    assert [envelope.execution_id for envelope, _ in post.sent] == [one]
    everything = confirm(as_operator, "/notifications/mails/retry-all")
    assert "1 queued again" in everything
    assert board.mails(MailState.PENDING) == [other]
    board.leave(post)
    with board.make_session() as session:
        (row,) = session.scalars(select(Notification))
        assert row.state is NotificationState.SENT
    assert "Tried a mail again" in text(as_operator, f"/notifications/mails/{one}")


def test_the_page_of_a_digest_shows_what_it_tells_and_to_whom(
    as_viewer: Browser, board: Board
) -> None:
    board.tell("Minutes", "Roster")
    board.leave(FakePost())
    with board.make_session() as session:
        mail = session.scalars(select(DigestMail)).first()
    assert mail is not None
    page = text(as_viewer, f"/notifications/digests/{mail.digest_id}")
    assert "validator0@example.org" in page
    assert "validator1@example.org" in page
    assert "Minutes" in page


def test_what_a_recipient_will_get_is_shown_in_a_frame(
    as_viewer: Browser, board: Board
) -> None:
    board.tell("<script>Minutes")
    path = f"/notifications/recipients/{board.accounts[0]}"
    page = text(as_viewer, path)
    assert "New document: &lt;script&gt;Minutes" in page
    frame = as_viewer.get(f"{path}/document/html")
    assert "“&lt;script&gt;Minutes” was added" in frame.get_data(as_text=True)
    assert "#unsubscribe" in frame.get_data(as_text=True)
    assert "sandbox" in frame.headers["Content-Security-Policy"]
    assert as_viewer.get(f"{path}/sync/html").get_data() == b""
    board.leave(FakePost())
    (one, _) = board.mails(MailState.SENT)
    sent = as_viewer.get(f"/notifications/mails/{one}/html").get_data(as_text=True)
    assert "was added to the board" in sent
    assert "Nothing waits for them now." in text(as_viewer, path)


def test_wishes_are_saved_shown_and_obeyed(as_operator: Browser, board: Board) -> None:
    path = f"/notifications/recipients/{board.accounts[0]}"
    answer = as_operator.post(
        f"{path}/preferences",
        data={"document.*": "no", "document.deleted": "yes", "territory.*": ""},
        follow_redirects=True,
    )
    assert "Saved what validator0@example.org wants." in answer.get_data(as_text=True)
    with board.make_session() as session:
        rows = session.scalars(select(NotificationPreference))
        assert {row.pattern: row.enabled for row in rows} == {
            "document.*": False,
            "document.deleted": True,
        }
    board.tell("Minutes")
    page = text(as_operator, path)
    assert "There would be no mail. The recipient chose not to have mails" in page
    as_operator.post(f"{path}/preferences", data={"document.*": ""})
    assert "New document: Minutes" in text(as_operator, path)


def test_wrong_wishes_are_refused_with_a_sentence(
    as_operator: Browser, board: Board
) -> None:
    path = f"/notifications/recipients/{board.accounts[0]}/preferences"
    answer = as_operator.post(path, data={"document.*": "maybe"})
    assert answer.status_code == 422
    assert "Choose one of the answers" in answer.get_data(as_text=True)
    assert as_operator.post(path, data={"burnt.*": "no"}).status_code == 303


def test_recipients_are_found_by_how_their_address_begins(
    as_viewer: Browser, board: Board
) -> None:
    page = text(as_viewer, "/notifications/recipients?q=Validator1")
    assert "validator1@example.org" in page
    assert "validator0@example.org" not in page
    assert "begins so" in text(as_viewer, "/notifications/recipients?q=zoe")


def test_a_viewer_may_look_and_not_act(as_viewer: Browser, board: Board) -> None:
    board.tell("Minutes")
    path = "/notifications/settling/st-mary/document/send"
    assert as_viewer.post(path).status_code == 403
    wishes = f"/notifications/recipients/{board.accounts[0]}/preferences"
    assert as_viewer.post(wishes, data={}).status_code == 403
    assert as_viewer.get("/notifications/settling/st-mary/nothing").status_code == 404
    assert as_viewer.get("/notifications/?cursor=x").status_code == 400


def test_the_console_calls_categories_as_mails_do() -> None:
    assert TITLES == CATEGORIES
