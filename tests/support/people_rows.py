"""A member with everything that can be known of one, for tests of forgetting."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.names import folded
from tasks.models import (
    Account,
    AccountDuty,
    AccountToken,
    Consent,
    Duty,
    EmergencyContact,
    Gender,
    Group,
    GroupMember,
    Member,
    SuppressionReason,
    TokenPurpose,
    new_id,
)
from tasks.models.notification import (
    Digest,
    DigestMail,
    MailState,
    Notification,
    NotificationPreference,
    NotificationState,
)
from tasks.models.reason import Reason
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.suppressions import suppress
from tests.support import territory_rows
from tests.support.factories import NOW

CLERK = Actor("clerk@example.org")


@dataclass(frozen=True, slots=True)
class Whole:
    """The ids of one person's rows, and every value that must not be found again."""

    member_id: UUID
    account_id: UUID
    values: list[str] = field(default_factory=list)


def left(session: Session, of: UUID, on: date, **values: object) -> UUID:
    """Add a member who left on a day."""
    return territory_rows.member(session, of, left_on=on, **values)


def responsible(session: Session, of: UUID, name: str, member_id: UUID) -> Group:
    """Add a group."""
    group = Group(congregation_id=of, name=name, responsible_id=member_id)
    session.add(group)
    session.flush()
    return group


def whole(session: Session, of: UUID, on: date | None) -> Whole:
    """Add somebody who is known in every table, and is named in texts of others."""
    first, last = "Éléonore", "Quasnikoff-Wójcik"
    member = Member(
        congregation_id=of,
        first_name=first,
        last_name=last,
        search_name=folded(f"{last} {first}"),
        gender=Gender.FEMALE,
        birth_date=date(1951, 7, 13),
        baptism_date=date(1969, 5, 4),
        email="eleonore.qw@example.org",
        phone="+33 6 55 01 02 03",
        address="17 rue des Quatre-Éléments, Gap",
        notes="Mag Quittenbrot",
        is_elder=True,
        joined_on=date(1969, 6, 1),
        left_on=on,
        hold_until=NOW.date() - timedelta(days=1),
        hold_reason="Erbstreit Quasni",
    )
    session.add(member)
    session.flush()
    account = Account(
        congregation_id=of,
        email="quasi@mail.example.net",
        name=f"{first} Quasi",
        member_id=member.id,
        locale="fr",
        timezone="Europe/Paris",
    )
    duty = Duty(congregation_id=of, key="administrator", name="Administrators")
    session.add_all([account, duty])
    session.flush()
    _around(session, of, member, account, duty)
    _named_elsewhere(session, of, member, account)
    return Whole(member.id, account.id, _values(member, account))


def _around(
    session: Session, of: UUID, member: Member, account: Account, duty: Duty
) -> None:
    other = territory_rows.member(session, of, last_name="Andersson")
    group = responsible(session, of, "North", other)
    group.deputy_id = member.id
    theirs = {"congregation_id": of, "member_id": member.id}
    its = {"congregation_id": of, "account_id": account.id}
    session.add_all(
        [
            GroupMember(**theirs, group_id=group.id),
            EmergencyContact(
                **theirs, name="Bertrand Notruf", phone="+33 6 99 88 77", relation="son"
            ),
            Consent(**theirs, kind="photo", given_at=NOW, ip="203.0.113.77"),
            AccountDuty(**its, duty_id=duty.id),
            AccountToken(
                **its,
                purpose=TokenPurpose.FEED,
                digest=b"d" * 32,
                expires_at=NOW + timedelta(days=9),
            ),
            NotificationPreference(**its, pattern="document.*", enabled=False),
        ]
    )
    for number, values in (
        ("1", {"notes": "Frau Quasni fragen"}),
        ("2", {"paused_on": NOW.date() - timedelta(days=3)}),
        ("3", {"started_on": NOW.date() + timedelta(days=4)}),
    ):
        ground = territory_rows.territory(session, of, number)
        territory_rows.attribution(session, of, member.id, ground, **values)
    _told(session, of, member, account)


def _told(session: Session, of: UUID, member: Member, account: Account) -> None:
    its = {"congregation_id": of, "account_id": account.id}
    digest = Digest(congregation_id=of, category="document")
    session.add(digest)
    session.flush()
    session.add_all(
        [
            DigestMail(
                **its,
                digest_id=digest.id,
                state=MailState.FAILED,
                run_at=NOW,
                asked_at=NOW,
                reason=Reason.REFUSED,
                error=f"550 <{account.email}> unknown",
                settled_at=NOW,
            ),
            Notification(
                **its,
                type="document.created",
                category="document",
                state=NotificationState.SENT,
                entity_type="document",
                entity_id=str(new_id()),
                payload={"title": f"Welcome, {member.name}"},
                key=f"document:1:account:{account.id}",
                settles_at=NOW,
                latest_at=NOW,
                ended_at=NOW,
            ),
        ]
    )


def _named_elsewhere(
    session: Session, of: UUID, member: Member, account: Account
) -> None:
    suppress(session, of, member.email, SuppressionReason.ASKED, CLERK, note="by post")
    colleague = territory_rows.member(
        session, of, last_name="Olsen", notes=f"Married to {member.name}"
    )
    ground = territory_rows.territory(session, of, "4")
    territory_rows.attribution(
        session, of, colleague, ground, notes=f"Taken over from {member.name.upper()}"
    )
    facts = {"first_name": member.first_name, "email": member.email}
    record(
        session,
        CLERK,
        "member.edited",
        Subject("member", str(member.id), of),
        f"Changed {member.name}.",
        before=facts,
        after=facts | {"phone": member.phone},
    )
    record(
        session,
        CLERK,
        "territory.given",
        Subject("territory", str(ground), of),
        f"Gave territory 4 to {member.name}.",
        after={"to": {"name": member.name}, "seen": [account.email]},
    )


def _values(member: Member, account: Account) -> list[str]:
    return [
        member.first_name,
        member.last_name,
        member.search_name,
        member.email,
        member.phone,
        member.address,
        member.notes,
        member.hold_reason,
        account.email,
        account.name,
        "1951-07-13",
        "1969-05-04",
        "1969-06-01",
        "Bertrand Notruf",
        "+33 6 99 88 77",
        "203.0.113.77",
        "Frau Quasni",
        "by post",
    ]
