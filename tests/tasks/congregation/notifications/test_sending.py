"""From news to mailboxes: what is told together, and how it reads."""

from __future__ import annotations

from datetime import date

from tasks.congregation.notifications import News
from tasks.holds.setting import What, hold, lift
from tasks.models import (
    Attribution,
    Channel,
    Document,
    Member,
    NotificationState,
    Reason,
)
from tests.support import notification_rows
from tests.tasks.congregation.notifications.conftest import (
    LINKS,
    RUTH,
    Office,
    addresses,
    created,
    text_of,
)


def test_forty_events_for_twelve_people_of_whom_three_have_to_wait(
    office: Office,
) -> None:
    office.validators(12)
    ids = office.documents(*(f"Letter {number}" for number in range(40)))
    office.tell(*(created(id_) for id_ in ids))
    assert office.sent() == []  # it still settles
    office.later(minutes=10)
    office.sink.refuse("rcpt", "451 4.3.0 Try later", times=3)

    swept = office.sweep()
    first = office.mails()

    assert (len(swept.gathered), len(swept.sent), len(swept.retried)) == (12, 9, 3)
    assert len(first) == 9
    assert office.states() == {NotificationState.QUEUED: 40}
    office.later(seconds=6)
    second = office.sent()
    assert len(second) == 3
    everybody = [f"validator{number}@example.org" for number in range(12)]
    assert addresses(first + second) == sorted(everybody)
    assert {mail.subject for mail in first + second} == {"Documents: 40 messages"}
    for mail in first + second:
        assert mail.text.count("was added to the board") == 40
        assert mail.html.count("<li>") == 40
    assert office.states() == {NotificationState.SENT: 40}
    office.later(hours=1)
    assert office.sent() == []


def test_mails_wait_while_they_are_held(office: Office) -> None:
    office.validators()
    office.tell(created(office.documents("Letter")[0]))
    office.later(minutes=10)
    for what in (What(), What(office.id), What(channel=Channel.NOTIFICATIONS)):
        with office.begin() as session:
            held = hold(session, what, "x", RUTH, now=office.now)
        assert office.sent() == []
        with office.begin() as session:
            lift(session, held.id, RUTH, how="sent", now=office.now)
    assert len(office.sent()) == 1


def test_one_mail_has_all_of_a_category_and_a_section_for_each_type(
    office: Office,
) -> None:
    anna = office.validators()[0]
    first, second = office.documents("Minutes", "<b>Roster</b>")
    office.tell(
        created(first),
        News("document.updated", second, {"title": "old"}),
        News("document.expiring", first, {"title": "", "until": date(2026, 3, 31)}),
        News("document.deleted", "gone", {"title": "Plan"}, account_id=anna),
    )
    office.later(minutes=10)
    (mail,) = office.sent()
    assert mail.subject == "Documents: 4 messages"
    assert text_of(mail).startswith(
        "Hello Validator0,\n\nNew documents\n- “Minutes” was"
    )
    ends = "Documents that end soon\n- “Minutes” leaves the board on March 31, 2026."
    assert ends in text_of(mail)
    assert "“&lt;b&gt;Roster&lt;/b&gt;” was changed." in mail.html
    assert "“Plan” was removed" in mail.text


def test_what_is_in_the_window_leaves_once_and_what_is_undone_never(
    office: Office,
) -> None:
    office.validators()
    (id_,) = office.documents("Minutes")
    for _ in range(3):
        office.tell(created(id_))
        office.later(minutes=5)
    office.later(minutes=10)
    (mail,) = office.sent()
    assert mail.subject == "New document: Minutes"
    office.tell(created("d2"))
    office.tell(News("document.deleted", "d2", {"title": "Plan"}))
    office.later(hours=2)
    assert office.sent() == []


def test_a_mail_can_be_unsubscribed_from_with_one_click(office: Office) -> None:
    office.validators()
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    (mail,) = office.sent()
    url = str(mail.message["List-Unsubscribe"]).strip("<>")
    assert mail.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    token = url.rpartition("/")[2]
    assert LINKS.read(token) == (office.id, "validator0@example.org")
    assert url in mail.text


def test_a_mail_tells_how_things_are_when_it_leaves(office: Office) -> None:
    office.validators()
    renamed, removed = office.documents("Old name", "Removed")
    office.tell(created(renamed, "Old name"), created(removed))
    office.later(minutes=10)
    with office.begin() as session:
        session.get_one(Document, renamed).title = "New\nname"
        session.delete(session.get_one(Document, removed))
    (mail,) = office.sent()
    assert mail.subject == "New document: New name"
    assert office.reasons() == {None, Reason.ENTITY_GONE}


def test_what_is_no_longer_so_is_not_told(office: Office) -> None:
    anna = office.add(notification_rows.member, left_on=date(2025, 9, 1))
    account = office.add(notification_rows.account, member_id=anna)
    office.add(notification_rows.duty, "administrator", account)
    id_ = office.add(notification_rows.attribution, anna, due_on=date(2026, 7, 14))
    said = {"on": date(2026, 4, 1)}
    office.tell(
        News("territory.given", id_, member_id=anna),
        News("retention.notice", anna, said),
    )
    office.later(minutes=29)
    (notice,) = office.sent()
    assert notice.subject == "Anna Baumann will be anonymised"
    assert "will be anonymised on April 1, 2026." in notice.text
    with office.begin() as session:
        session.get_one(Attribution, id_).ended_on = date(2026, 3, 10)
        session.get_one(Member, anna).left_on = None
    office.tell(News("retention.notice", anna, said))
    office.later(minutes=1)
    assert office.sent() == []
    assert office.reasons() == {None, Reason.ENTITY_GONE}


def test_language_and_timezone_are_the_accounts_else_the_congregations(
    office: Office,
) -> None:
    anna = office.add(notification_rows.member)
    for name, locale in (("fr", "fr"), ("en", None), ("de", "de")):
        office.add(notification_rows.account, name, member_id=anna, locale=locale)
    id_ = office.add(notification_rows.attribution, anna, due_on=date(2026, 7, 14))
    office.tell(News("territory.given", id_, member_id=anna))
    office.later(minutes=30)
    texts = {mail.recipients[0]: text_of(mail) for mail in office.sent()}
    assert texts["fr@example.org"].startswith(
        "Bonjour Fr,\n\nLe territoire 12 vous est confié jusqu’au 14 juillet 2026."
    )
    for name in ("en", "de"):
        assert "territory 12, until July 14, 2026." in texts[f"{name}@example.org"]
