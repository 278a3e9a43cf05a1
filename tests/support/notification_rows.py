"""A congregation with accounts and duties that notifications go to."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models import (
    Account,
    AccountDuty,
    Attribution,
    BoardSection,
    Consent,
    Digest,
    DigestItem,
    DigestMail,
    Document,
    Duty,
    MailState,
    Member,
    Notification,
    NotificationPreference,
    NotificationState,
    Reason,
    StoredFile,
    Territory,
    new_id,
)
from tests.support.factories import NOW

TODAY = NOW.date()


def account(session: Session, of: UUID, name: str = "anna", **values: Any) -> UUID:
    """Add an active account and return its id."""
    email = values.pop("email", f"{name}@example.org")
    row = Account(congregation_id=of, name=name.title(), email=email, **values)
    session.add(row)
    session.flush()
    return row.id


def duty(session: Session, of: UUID, key: str, *accounts: UUID) -> UUID:
    """Add a duty that ``accounts`` have, and return its id."""
    row = Duty(congregation_id=of, key=key, name=key.replace("_", " ").title())
    session.add(row)
    session.flush()
    for account_id in accounts:
        session.add(
            AccountDuty(congregation_id=of, account_id=account_id, duty_id=row.id)
        )
    session.flush()
    return row.id


def validators(session: Session, of: UUID, n: int) -> list[UUID]:
    """Add ``n`` accounts that look after the board, and return their ids."""
    made = [account(session, of, f"validator{number}") for number in range(n)]
    duty(session, of, "board_validator", *made)
    return made


def member(session: Session, of: UUID, name: str = "Anna", **values: Any) -> UUID:
    """Add a member and return the id."""
    row = Member(
        congregation_id=of,
        first_name=name,
        last_name="Baumann",
        search_name=f"baumann {name.lower()}",
        **values,
    )
    session.add(row)
    session.flush()
    return row.id


def attribution(session: Session, of: UUID, member_id: UUID, **values: Any) -> UUID:
    """Add a territory that the member works on, and return the attribution's id."""
    territory = Territory(congregation_id=of, number=values.pop("number", "12"))
    session.add(territory)
    session.flush()
    row = Attribution(
        id=new_id(),
        congregation_id=of,
        territory_id=territory.id,
        member_id=member_id,
        started_on=TODAY,
        due_on=values.pop("due_on", TODAY),
        **values,
    )
    session.add(row)
    session.flush()
    return row.id


def consent(session: Session, of: UUID, member_id: UUID, **values: Any) -> None:
    """Add a consent to mails."""
    values.setdefault("given_at", NOW)
    row = Consent(congregation_id=of, member_id=member_id, kind="email", **values)
    session.add(row)
    session.flush()


def documents(session: Session, of: UUID, *titles: str) -> list[UUID]:
    """Add documents that share one file, and return their ids."""
    section = BoardSection(congregation_id=of, name=f"Board {new_id()}")
    sha256 = new_id().bytes * 2
    file = StoredFile(congregation_id=of, sha256=sha256, size=1, key=sha256.hex())
    session.add_all([section, file])
    session.flush()
    rows = [
        Document(
            congregation_id=of,
            section_id=section.id,
            file_id=file.id,
            title=title,
            search_title=title.casefold(),
            filename="a.pdf",
        )
        for title in titles
    ]
    session.add_all(rows)
    session.flush()
    return [row.id for row in rows]


def told(session: Session, of: UUID, mark: str) -> dict[str, str]:
    """Add an account with something that waits and a mail that failed.

    Returns what their pages have in their addresses.
    """
    to = account(session, of, mark)
    duty(session, of, "board_validator", to)
    digest = Digest(congregation_id=of, id=new_id(), category="document")
    session.add(digest)
    session.flush()
    about = _about_removed(of, mark)
    waiting = Notification(**about, id=new_id(), entity_id="1")
    failed = Notification(
        **about,
        id=new_id(),
        entity_id="2",
        state=NotificationState.FAILED,
        digest_id=digest.id,
    )
    mail = DigestMail(
        congregation_id=of,
        id=new_id(),
        digest_id=digest.id,
        account_id=to,
        state=MailState.FAILED,
        run_at=NOW,
        asked_at=NOW,
        reason=Reason.REFUSED,
        error=f"Refused: {mark}",
    )
    session.add_all([waiting, failed, mail])
    session.flush()
    ids = {"mail_id": mail.id, "notification_id": failed.id}
    session.add(DigestItem(congregation_id=of, **ids))
    session.add(
        NotificationPreference(
            congregation_id=of, account_id=to, pattern="sync.*", enabled=False
        )
    )
    session.flush()
    return {
        "account_id": str(to),
        "category": "document",
        "digest_id": str(digest.id),
        "mail_id": str(mail.id),
    }


def _about_removed(of: UUID, mark: str) -> dict[str, Any]:
    """Return what notifications say of a document that was taken away."""
    late = NOW.replace(year=NOW.year + 20)
    return {
        "congregation_id": of,
        "type": "document.deleted",
        "category": "document",
        "duty": "board_validator",
        "entity_type": "removed",
        "payload": {"title": mark},
        "key": f"document:{mark}:duty:board_validator",
        "settles_at": late,
        "latest_at": late,
    }
