"""Operators, their roles, and what they log in with."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from flask_security import RoleMixin, UserMixin
from sqlalchemy import Column, ForeignKey, Index, String, Table
from sqlalchemy.orm import Mapped, mapped_column, relationship

from tasks.clock import utcnow
from tasks.models.base import Base, Id
from tasks.saying import mark


class RoleName(StrEnum):
    """What an operator may do; each role may do all that the ones before it may."""

    VIEWER = "viewer"  # sees everything of their congregations, changes nothing
    OPERATOR = "operator"  # changes rules, retries, cancels, pauses
    ADMIN = "admin"  # also manages operators, tokens and congregations

    @property
    def label(self) -> str:
        """Its name for people, marked for the catalogs."""
        return _TITLES[self]

    def covers(self, needed: RoleName) -> bool:
        """Whether this role may do what ``needed`` may.

        >>> RoleName.ADMIN.covers(RoleName.VIEWER)
        True

        """
        return _RANKS[self] >= _RANKS[needed]


_RANKS: Final = {role: rank for rank, role in enumerate(RoleName)}
_TITLES: Final = {
    RoleName.VIEWER: mark("Viewer"),
    RoleName.OPERATOR: mark("Operator"),
    RoleName.ADMIN: mark("Admin"),
}
operators_roles = Table(
    "operators_roles",
    Base.metadata,
    Column(
        "operator_id", ForeignKey("operators.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("role_id", ForeignKey("roles.id", ondelete="CASCADE"), primary_key=True),
)

#: Which congregations an operator may see who does not see all of them.
operator_congregations = Table(
    "operator_congregations",
    Base.metadata,
    Column(
        "operator_id", ForeignKey("operators.id", ondelete="CASCADE"), primary_key=True
    ),
    Column(
        "congregation_id",
        ForeignKey("congregations.id", ondelete="CASCADE"),
        primary_key=True,
    ),
)


class Role(Base, RoleMixin):  # type: ignore[misc]  # the mixin has no types
    """A role that operators have; one row for each ``RoleName``."""

    __tablename__ = "roles"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(80), unique=True)
    description: Mapped[str | None] = mapped_column(String(255))


class Operator(Base, UserMixin):  # type: ignore[misc]  # the mixin has no types
    """A person who logs in to the console."""

    __tablename__ = "operators"

    id: Mapped[Id]
    email: Mapped[str] = mapped_column(String(255), unique=True)  # lower case
    name: Mapped[str] = mapped_column(String(120))
    password: Mapped[str | None] = mapped_column(String(255))  # None: not set yet
    active: Mapped[bool] = mapped_column(default=True)
    #: Sessions carry this instead of the id; a new value ends all of them.
    fs_uniquifier: Mapped[str] = mapped_column(String(64), unique=True)
    sees_all: Mapped[bool] = mapped_column(default=False)  # every congregation
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    timezone: Mapped[str | None] = mapped_column(String(64))  # None: never logged in
    language: Mapped[str | None] = mapped_column(String(8))  # None: the browser's
    roles: Mapped[list[Role]] = relationship(secondary=operators_roles, lazy="selectin")

    @property
    def role(self) -> RoleName:
        """The highest of the operator's roles; one without any is a viewer."""
        names = {role.name for role in self.roles}
        for name in reversed(RoleName):
            if name in names:
                return name
        return RoleName.VIEWER


class OperatorSession(Base):
    """One browser's session; the cookie's secret is kept as a digest only."""

    __tablename__ = "operator_sessions"
    __table_args__ = (Index(None, "expires_at"), Index(None, "operator_id"))

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)  # SHA-256, hex
    operator_id: Mapped[UUID | None] = mapped_column(  # None: nobody logged in yet
        ForeignKey("operators.id", ondelete="CASCADE")
    )
    data: Mapped[str]  # tagged JSON, as Flask writes it
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]  # to some minutes
    expires_at: Mapped[datetime]  # moves with seen_at, up to the absolute limit


class SetupToken(Base):
    """A link that works once: makes the first admin, or sets an operator's password."""

    __tablename__ = "setup_tokens"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)  # SHA-256, hex
    #: None: the link makes the first admin.
    operator_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("operators.id", ondelete="CASCADE")
    )
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
