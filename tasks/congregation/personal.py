"""What is known of a congregation's people, column by column, and its fate.

When somebody is anonymised, ``retention.erasing`` goes through ``REGISTER`` and does
what stands here, so a column that is classified is erased, too.  A test refuses a
table of a congregation, and a column of these, that is not listed.  Tables in which
nothing is erased stand in ``elsewhere.py``, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import ColumnElement, and_, exists, false, func, or_

from tasks.congregation.columns import (
    ACCOUNTS,
    ATTRIBUTIONS,
    AUDIT,
    CONSENTS,
    GROUPS,
    MAILS,
    MEMBERS,
    NOTIFICATIONS,
)
from tasks.congregation.fates import People, Personal, Texts
from tasks.models import (
    Account,
    AccountDuty,
    AccountToken,
    Address,
    Attribution,
    AuditEntry,
    Base,
    Booking,
    Campaign,
    Consent,
    Contact,
    EmergencyContact,
    EpisodeGuest,
    Group,
    GroupMember,
    Member,
    RetentionBlock,
    Suppression,
    Territory,
)
from tasks.models.notification import (
    DigestItem,
    DigestMail,
    Notification,
    NotificationPreference,
)


def _told(people: People) -> ColumnElement[bool]:
    """Return what is told to them, and what is told about them to others."""
    ids = [str(each) for each in (*people.members, *people.accounts)]
    about = and_(
        Notification.entity_type.in_(("member", "account")),
        Notification.entity_id.in_(ids),
    )
    return or_(about, Notification.account_id.in_(people.accounts))


def _silenced(people: People) -> ColumnElement[bool]:
    """Return suppressions of addresses that nobody writes to any more.

    Who is also a guest or a contact keeps theirs: there it still stops mails.
    """
    if not people.addresses:
        return false()
    of = people.congregation_id
    # Asked of each suppression that is found, and few are.
    is_known = (
        exists().where(
            Contact.congregation_id == of, Contact.address == Suppression.address
        ),
        exists().where(
            EpisodeGuest.congregation_id == of,
            func.lower(EpisodeGuest.email) == Suppression.address,
        ),
        exists().where(
            Booking.congregation_id == of,
            func.lower(Booking.guest_email) == Suppression.address,
        ),
    )
    return and_(Suppression.address.in_(people.addresses), ~or_(*is_known))


def _audited(people: People) -> ColumnElement[bool]:
    return or_(
        *(
            and_(AuditEntry.subject_kind == kind, AuditEntry.subject_id.in_(ids))
            for kind, ids in people.subjects.items()
        ),
        false(),
    )


#: Every table with rows about people, in the order in which it is erased.
REGISTER: Final = (
    Personal(AuditEntry, _audited, AUDIT),
    Personal(EmergencyContact, lambda p: EmergencyContact.member_id.in_(p.members)),
    Personal(GroupMember, lambda p: GroupMember.member_id.in_(p.members)),
    Personal(RetentionBlock, lambda p: RetentionBlock.member_id.in_(p.members)),
    Personal(AccountToken, lambda p: AccountToken.account_id.in_(p.accounts)),
    Personal(AccountDuty, lambda p: AccountDuty.account_id.in_(p.accounts)),
    Personal(
        NotificationPreference,
        lambda p: NotificationPreference.account_id.in_(p.accounts),
    ),
    Personal(Suppression, _silenced),
    Personal(Notification, _told, NOTIFICATIONS),
    Personal(DigestMail, lambda p: DigestMail.account_id.in_(p.accounts), MAILS),
    Personal(Consent, lambda p: Consent.member_id.in_(p.members), CONSENTS),
    Personal(Attribution, lambda p: Attribution.member_id.in_(p.members), ATTRIBUTIONS),
    Personal(Group, lambda p: Group.deputy_id.in_(p.members), GROUPS),
    Personal(Account, lambda p: Account.id.in_(p.accounts), ACCOUNTS),
    Personal(Member, lambda p: Member.id.in_(p.members), MEMBERS),
)

#: Tables that point to people's rows and hold nothing of people -> why.
LINKS_ONLY: Final[Mapping[type[Base], str]] = {
    DigestItem: "Two ids and a reason.",
}

#: Texts of others in which somebody may be named: the name, addresses and numbers are
#: blacked out there, and the rest of the text stays.
MENTIONS: Final = (
    Texts(
        AuditEntry,
        ("summary", "before", "after"),
        # What retention itself has said holds ids alone, and many of them.
        AuditEntry.action != "retention.swept",
    ),
    Texts(Attribution, ("notes",)),
    Texts(Territory, ("notes",)),
    Texts(Campaign, ("notes", "report")),
    Texts(Member, ("notes", "hold_reason")),
    Texts(Address, ("notes",)),
    Texts(Notification, ("payload",)),
)
