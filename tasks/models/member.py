"""The people of a congregation, their groups, accounts and consents.

Which of these columns are erased when a person has been gone too long stands in
``tasks/congregation/personal.py``; a test refuses a column that is not listed there.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Date, Index, LargeBinary, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)

_IS_LEAVING = "left_on IS NOT NULL AND anonymised_at IS NULL"


class Gender(StrEnum):
    """How a member is addressed."""

    FEMALE = "female"
    MALE = "male"


class Member(OfCongregation, Base):
    """A person who belongs, or belonged, to a congregation."""

    __tablename__ = "members"
    __table_args__ = (
        tenant_key("members"),
        Index(None, "congregation_id", "search_name", "id"),
        Index(
            "ix_members_leaving",
            "congregation_id",
            "left_on",
            "id",
            postgresql_where=text(_IS_LEAVING),
            sqlite_where=text(_IS_LEAVING),
        ),
    )

    id: Mapped[Id]
    first_name: Mapped[str] = mapped_column(String(120))
    last_name: Mapped[str] = mapped_column(String(120))
    #: "last first", folded by ``tasks.congregation.names``; lists and searches use it.
    search_name: Mapped[str] = mapped_column(String(255))
    gender: Mapped[Gender | None] = mapped_column(word(Gender))
    birth_date: Mapped[date | None] = mapped_column(Date)
    baptism_date: Mapped[date | None] = mapped_column(Date)
    email: Mapped[str] = mapped_column(String(254), default="")  # normal_address
    phone: Mapped[str] = mapped_column(String(40), default="")
    address: Mapped[str] = mapped_column(String(300), default="")
    notes: Mapped[str] = mapped_column(String(2000), default="")
    is_publisher: Mapped[bool] = mapped_column(default=True)
    is_elder: Mapped[bool] = mapped_column(default=False)
    is_servant: Mapped[bool] = mapped_column(default=False)
    is_anointed: Mapped[bool] = mapped_column(default=False)
    joined_on: Mapped[date | None] = mapped_column(Date)
    inactive_on: Mapped[date | None] = mapped_column(Date)  # None: active
    #: The congregation's local day on which the member left; None: has not.
    left_on: Mapped[date | None] = mapped_column(Date)
    #: Up to and including this day nothing is erased; None: no hold.
    hold_until: Mapped[date | None] = mapped_column(Date)
    hold_reason: Mapped[str] = mapped_column(String(200), default="")
    #: When it was announced that the member will be anonymised; None: not yet.
    noticed_at: Mapped[datetime | None]
    anonymised_at: Mapped[datetime | None]  # final
    version: Mapped[int] = mapped_column(default=1)  # rises with every change
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)

    @property
    def name(self) -> str:
        """First and last name as they are shown."""
        return f"{self.first_name} {self.last_name}".strip()


class EmergencyContact(PartOfCongregation, Base):
    """Whom to call when something happens to a member."""

    __tablename__ = "emergency_contacts"
    __table_args__ = (
        within_congregation("member_id", "members", ondelete="CASCADE"),
        tenant_key("emergency_contacts"),
        Index(None, "member_id", "id"),
    )

    id: Mapped[Id]
    member_id: Mapped[UUID]
    name: Mapped[str] = mapped_column(String(200))
    phone: Mapped[str] = mapped_column(String(40), default="")
    relation: Mapped[str] = mapped_column(String(80), default="")


class Group(OfCongregation, Base):
    """Some members, and who is responsible for them."""

    __tablename__ = "groups"
    __table_args__ = (
        within_congregation("responsible_id", "members"),
        within_congregation("deputy_id", "members"),
        tenant_key("groups"),
        UniqueConstraint("congregation_id", "name"),
        UniqueConstraint("congregation_id", "responsible_id"),
        Index(None, "congregation_id", "deputy_id"),
    )

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(120))
    responsible_id: Mapped[UUID]  # cannot be anonymised before somebody takes over
    deputy_id: Mapped[UUID | None]
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class GroupMember(PartOfCongregation, Base):
    """That a member belongs to a group, and to one at most."""

    __tablename__ = "group_members"
    __table_args__ = (
        within_congregation("member_id", "members", ondelete="CASCADE"),
        within_congregation("group_id", "groups", ondelete="CASCADE"),
        Index(None, "group_id", "member_id"),
    )

    member_id: Mapped[UUID] = mapped_column(primary_key=True)
    group_id: Mapped[UUID]


class Account(OfCongregation, Base):
    """Somebody who uses the congregation's own applications and hears from them.

    Accounts do not log in to this console: those who do are operators.
    """

    __tablename__ = "accounts"
    __table_args__ = (
        within_congregation("member_id", "members"),
        tenant_key("accounts"),
        UniqueConstraint("congregation_id", "email"),
        Index(None, "congregation_id", "member_id"),
    )

    id: Mapped[Id]
    email: Mapped[str] = mapped_column(String(254))  # by ``normal_address``
    name: Mapped[str] = mapped_column(String(200), default="")
    member_id: Mapped[UUID | None]  # None: not a member, such as a secretary
    locale: Mapped[str | None] = mapped_column(String(8))  # None: the congregation's
    timezone: Mapped[str | None] = mapped_column(String(64))  # None: likewise
    is_active: Mapped[bool] = mapped_column(default=True)
    anonymised_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Duty(OfCongregation, Base):
    """A task that accounts have, such as looking after the document board."""

    __tablename__ = "duties"
    __table_args__ = (
        tenant_key("duties"),
        UniqueConstraint("congregation_id", "key"),
    )

    id: Mapped[Id]
    key: Mapped[str] = mapped_column(String(64))  # e.g. "board_validator"
    name: Mapped[str] = mapped_column(String(120))


class AccountDuty(PartOfCongregation, Base):
    """That an account has a duty."""

    __tablename__ = "account_duties"
    __table_args__ = (
        within_congregation("account_id", "accounts", ondelete="CASCADE"),
        within_congregation("duty_id", "duties", ondelete="CASCADE"),
        Index(None, "duty_id", "account_id"),
    )

    account_id: Mapped[UUID] = mapped_column(primary_key=True)
    duty_id: Mapped[UUID] = mapped_column(primary_key=True)


class TokenPurpose(StrEnum):
    """What an account's token opens."""

    PASSWORD_RESET = "password_reset"  # noqa: S105  # a word, no password
    EMAIL_VERIFICATION = "email_verification"
    FEED = "feed"  # a private calendar feed


class AccountToken(PartOfCongregation, Base):
    """A secret that was given to an account; only its digest is kept."""

    __tablename__ = "account_tokens"
    __table_args__ = (
        within_congregation("account_id", "accounts", ondelete="CASCADE"),
        UniqueConstraint("digest"),
        Index(None, "account_id"),
        Index(None, "expires_at"),
    )

    id: Mapped[Id]
    account_id: Mapped[UUID]
    purpose: Mapped[TokenPurpose] = mapped_column(word(TokenPurpose))
    digest: Mapped[bytes] = mapped_column(LargeBinary(32))  # SHA-256
    expires_at: Mapped[datetime]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Consent(PartOfCongregation, Base):
    """That a member agreed to something, and when they took it back."""

    __tablename__ = "consents"
    __table_args__ = (
        within_congregation("member_id", "members", ondelete="CASCADE"),
        tenant_key("consents"),
        Index(None, "member_id", "kind"),
        Index(None, "withdrawn_at"),
    )

    id: Mapped[Id]
    member_id: Mapped[UUID]
    kind: Mapped[str] = mapped_column(String(64))  # e.g. "email", "photo"
    given_at: Mapped[datetime]
    withdrawn_at: Mapped[datetime | None]  # None: it holds
    ip: Mapped[str] = mapped_column(String(45), default="")  # where it was given from
