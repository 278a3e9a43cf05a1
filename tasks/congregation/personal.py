"""What is known of a congregation's people, column by column, and its fate.

When somebody is anonymised, ``retention.erasing`` goes through ``REGISTER`` and does
what stands here, so a column that is classified is erased, too.  A test refuses a
table that points to members or accounts, and a column of it, that is not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Table, and_, exists, false, func, or_

from tasks.congregation.names import folded
from tasks.models import (
    Account,
    AccountDuty,
    AccountToken,
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

#: The congregation's language -> who somebody is from then on.
FORMER: Final[Mapping[str, str]] = {"en": "Former member", "fr": "Ancien membre"}
#: Says that a text was about somebody; people read it in the audit log.
FORGOTTEN: Final = "About somebody who has been anonymised since."


@dataclass(frozen=True, slots=True)
class People:
    """Members of one congregation, and what of other tables belongs to them."""

    congregation_id: UUID
    locale: str
    now: datetime
    members: Sequence[UUID]
    accounts: Sequence[UUID] = ()
    addresses: Sequence[str] = ()  # e-mail addresses, normalised
    #: Audit subjects about them alone: kind -> ids as text.
    subjects: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Erase:
    """The column becomes empty: NULL where it may be, else "" or false."""


@dataclass(frozen=True, slots=True)
class Keep:
    """The column stays as it is."""

    because: str


@dataclass(frozen=True, slots=True)
class Derive:
    """The column gets a value that says nothing of the person."""

    value: Callable[[UUID, People], object]  # of the row's id


Fate = Erase | Keep | Derive
Whose = Callable[[People], ColumnElement[bool]]


@dataclass(frozen=True, slots=True)
class Personal:
    """A table with rows about people."""

    model: type[Base]
    whose: Whose  # which rows are theirs
    #: The fate of every column; None: their rows are removed altogether.
    columns: Mapping[str, Fate] | None = None

    @property
    def table(self) -> Table:
        """The table itself."""
        return Base.metadata.tables[self.model.__tablename__]


@dataclass(frozen=True, slots=True)
class Texts:
    """Columns of a table in which people write about others."""

    model: type[Base]
    columns: Sequence[str]
    where: ColumnElement[bool] | None = None  # rows worth a look; None: all

    @property
    def table(self) -> Table:
        """The table itself."""
        return Base.metadata.tables[self.model.__tablename__]


def suffix(row_id: UUID) -> str:
    """Return what tells people apart who have no name any more."""
    return f"#{row_id.hex[-10:]}"


def _former(_row_id: UUID, people: People) -> str:
    return FORMER.get(people.locale, FORMER["en"])


def _search_name(row_id: UUID, people: People) -> str:
    return folded(f"{suffix(row_id)} {_former(row_id, people)}")


def _nobody(_row_id: UUID, _people: People) -> str:
    return f"deleted-{uuid4().hex}@anonymised.invalid"


def _now(_row_id: UUID, people: People) -> datetime:
    return people.now


_ERASE: Final = Erase()
_ID: Final = Keep("Other rows refer to it, and it says nothing of the person.")
_LINK: Final = Keep("Points to what is anonymised itself.")
_STATE: Final = Keep("Says how far something is, not who somebody is.")
_TIME: Final = Keep("When a row was written says nothing of the person.")
_COUNTS: Final = Keep("Counts and statistics need it, and many people share it.")
_STAMP: Final = Derive(_now)

_MEMBERS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "first_name": Derive(_former),
    "last_name": Derive(lambda row_id, _: suffix(row_id)),
    "search_name": Derive(_search_name),
    "gender": _ERASE,
    "birth_date": _ERASE,
    "baptism_date": _ERASE,
    "email": _ERASE,
    "phone": _ERASE,
    "address": _ERASE,
    "notes": _ERASE,
    "is_publisher": _COUNTS,
    "is_elder": _ERASE,
    "is_servant": _ERASE,
    "is_anointed": _ERASE,
    "joined_on": _ERASE,
    "inactive_on": _ERASE,
    "left_on": Keep("Says why the person was anonymised, and when it was due."),
    "hold_until": _ERASE,
    "hold_reason": _ERASE,
    "noticed_at": _TIME,
    "anonymised_at": _STAMP,
    "version": _STATE,
    "created_at": _TIME,
    "updated_at": _STAMP,
}
_ACCOUNTS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "email": Derive(_nobody),
    "name": _ERASE,
    "member_id": _LINK,
    "locale": _ERASE,
    "timezone": _ERASE,
    "is_active": _ERASE,
    "anonymised_at": _STAMP,
    "created_at": _TIME,
}
_GROUPS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "name": Keep("The group's own name."),
    "responsible_id": Keep("Nobody who is responsible for a group is anonymised."),
    "deputy_id": _ERASE,
    "version": _STATE,
    "created_at": _TIME,
}
_CONSENTS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "member_id": _LINK,
    "kind": Keep("That there was a consent has to be shown for two years more."),
    "given_at": _TIME,
    "withdrawn_at": _TIME,
    "ip": _ERASE,
}
_ATTRIBUTIONS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "territory_id": Keep("The history of a territory outlives who worked there."),
    "member_id": _LINK,
    "method": _COUNTS,
    "started_on": _COUNTS,
    "ended_on": _COUNTS,
    "due_on": _COUNTS,
    "notes": _ERASE,
    "campaign_id": _COUNTS,
    "paused_on": _STATE,
    "paused_by_id": _STATE,
    "version": _STATE,
    "created_at": _TIME,
}
_NOTIFICATIONS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "type": _STATE,
    "category": _STATE,
    "state": _STATE,
    "account_id": _LINK,
    "duty": _STATE,
    "actor_id": _LINK,
    "entity_type": _STATE,
    "entity_id": _LINK,
    "payload": Keep("Names no people; they are read when it leaves."),
    "key": Keep("Made of ids."),
    "n_merged": _COUNTS,
    "first_at": _TIME,
    "settles_at": _TIME,
    "latest_at": _TIME,
    "digest_id": _LINK,
    "reason": _STATE,
    "ended_at": _TIME,
}
_MAILS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "digest_id": _LINK,
    "account_id": _LINK,
    "state": _STATE,
    "run_at": _TIME,
    "asked_at": _TIME,
    "attempt": _STATE,
    "failures": _STATE,
    "crashes": _STATE,
    "worker": _STATE,
    "lease_until": _TIME,
    "reason": _STATE,
    "error": _ERASE,  # mail servers repeat the address they refuse
    "settled_at": _TIME,
    "created_at": _TIME,
}
_AUDIT: Final[Mapping[str, Fate]] = {
    "id": _ID,
    "congregation_id": _ID,
    "actor": Keep("Operators answer for what they did."),
    "action": _STATE,
    "subject_kind": _STATE,
    "subject_id": _LINK,
    "summary": Derive(lambda _row_id, _: FORGOTTEN),
    "before": _ERASE,
    "after": _ERASE,
    "ip": Keep("The operator's."),
    "created_at": _TIME,
}


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
    Personal(AuditEntry, _audited, _AUDIT),
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
    Personal(Notification, _told, _NOTIFICATIONS),
    Personal(DigestMail, lambda p: DigestMail.account_id.in_(p.accounts), _MAILS),
    Personal(Consent, lambda p: Consent.member_id.in_(p.members), _CONSENTS),
    Personal(
        Attribution, lambda p: Attribution.member_id.in_(p.members), _ATTRIBUTIONS
    ),
    Personal(Group, lambda p: Group.deputy_id.in_(p.members), _GROUPS),
    Personal(Account, lambda p: Account.id.in_(p.accounts), _ACCOUNTS),
    Personal(Member, lambda p: Member.id.in_(p.members), _MEMBERS),
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
    Texts(Notification, ("payload",)),
)
