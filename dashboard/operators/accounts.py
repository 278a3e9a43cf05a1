"""Adding operators and changing what they may do; the caller commits."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from uuid import UUID

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dashboard.operators.checks import checked_email, checked_password
from dashboard.operators.models import (
    Operator,
    Role,
    RoleName,
    SetupToken,
    operator_congregations,
    operators_roles,
)
from dashboard.operators.passwords import hash_password
from dashboard.session_rows import end_sessions
from tasks.clock import utcnow
from tasks.errors import Conflict, InvalidInput
from tasks.operations.audit import SYSTEM, Actor, Subject, record
from tasks.operations.congregation_fields import clean_timezone
from tasks.saying import LANGUAGES, say


def create_operator(
    session: Session,
    email: str,
    password: str | None,
    role: RoleName | str,
    sees_all: bool = True,
    *,
    name: str = "",
    congregations: Collection[UUID] = (),
    actor: Actor = SYSTEM,
) -> Operator:
    """Add an operator; one without a password needs a link to set it.

    Raises:
        InvalidInput: the address or the password will not do.
        Conflict: somebody has this address already.
    """
    address = checked_email(email)
    if session.scalar(select(Operator.id).where(Operator.email == address)):
        raise _is_known(address)
    operator = Operator(
        email=address,
        name=name.strip() or address.partition("@")[0],
        password=None,
        active=True,
        fs_uniquifier=secrets.token_hex(32),
        sees_all=sees_all,
        roles=[_role(session, RoleName(role))],
    )
    if password is not None:
        operator.password = hash_password(checked_password(password, address))
    try:
        with session.begin_nested():
            session.add(operator)
    except IntegrityError as error:  # somebody adds the same one right now
        raise _is_known(address) from error
    _set_congregations(session, operator, congregations)
    summary = f"{address} was added as {RoleName(role)}."
    record(session, actor, "operator.created", _subject(operator), summary)
    return operator


def _is_known(address: str) -> Conflict:
    return Conflict(
        "operator_exists",
        say("%(email)s is an operator already.", email=address),
        field="email",
    )


def change_access(
    session: Session,
    operator: Operator,
    role: RoleName,
    *,
    sees_all: bool,
    congregations: Collection[UUID],
    actor: Actor,
) -> None:
    """Change what an operator may do and see; their sessions go on with less or more.

    Raises:
        Conflict: it is the last admin, who must stay one, and of all congregations.
    """
    loses = role is not RoleName.ADMIN or (operator.sees_all and not sees_all)
    if operator.role is RoleName.ADMIN and loses:
        _keep_an_admin(session, operator)
    before = {"role": operator.role.value, "sees_all": operator.sees_all}
    operator.roles = [_role(session, role)]
    operator.sees_all = sees_all
    _set_congregations(session, operator, congregations)
    record(
        session,
        actor,
        "operator.access_changed",
        _subject(operator),
        f"{operator.email} is {role} now.",
        before=before,
        after={"role": role.value, "sees_all": sees_all},
    )


def set_active(
    session: Session, operator: Operator, is_active: bool, *, actor: Actor
) -> None:
    """Let an operator log in or not; switching off ends sessions and links at once.

    Raises:
        Conflict: it is the last admin.
    """
    if not is_active and operator.role is RoleName.ADMIN:
        _keep_an_admin(session, operator)
    operator.active = is_active
    if not is_active:
        end_sessions(session, operator.id)
        spend_links(session, operator.id)
    word = "enabled" if is_active else "disabled"
    summary = f"{operator.email} was {word}."
    record(session, actor, f"operator.{word}", _subject(operator), summary)


def set_password(
    session: Session, operator: Operator, password: str, *, actor: Actor
) -> None:
    """Give an operator a new password and end all of their sessions and links.

    Raises:
        InvalidInput: the password will not do.
    """
    operator.password = hash_password(checked_password(password, operator.email))
    operator.fs_uniquifier = secrets.token_hex(32)
    end_sessions(session, operator.id)
    spend_links(session, operator.id)
    summary = f"{operator.email} has a new password."
    record(session, actor, "operator.password_set", _subject(operator), summary)


def spend_links(session: Session, operator_id: UUID) -> None:
    """Let no link that is out set an operator's password any more."""
    session.execute(
        update(SetupToken)
        .where(SetupToken.operator_id == operator_id, SetupToken.used_at.is_(None))
        .values(used_at=utcnow())
    )


def set_reading(
    session: Session,
    operator: Operator,
    timezone: str,
    language: str | None,
    *,
    actor: Actor,
) -> None:
    """Choose by which clock and in which language an operator reads.

    ``language`` is one of LANGUAGES; None: that of the browser.

    Raises:
        InvalidInput: there is no such timezone or language.
    """
    if language is not None and language not in LANGUAGES:
        names = ", ".join(LANGUAGES)
        raise InvalidInput(
            "bad_language",
            say("Choose one of %(names)s.", names=names),
            field="language",
        )
    operator.timezone = clean_timezone(timezone)
    operator.language = language
    summary = (
        f"{operator.email} reads times in {operator.timezone}, and pages in "
        f"{LANGUAGES.get(language or '', 'the language of the browser')}."
    )
    record(session, actor, "operator.reading_set", _subject(operator), summary)


def _role(session: Session, name: RoleName) -> Role:
    found = session.scalar(select(Role).where(Role.name == name))
    if found is None:
        found = Role(name=name.value)
        session.add(found)
    return found


def _keep_an_admin(session: Session, operator: Operator) -> None:
    # Locked, so that two admins cannot remove each other at the same instant.
    session.execute(select(Role.id).where(Role.name == "admin").with_for_update())
    others = (
        select(func.count())
        .select_from(Operator)
        .join(operators_roles, operators_roles.c.operator_id == Operator.id)
        .join(Role, Role.id == operators_roles.c.role_id)
        .where(Role.name == "admin", Operator.active, Operator.id != operator.id)
    )
    if operator.sees_all:  # admins of some congregations cannot take their place
        others = others.where(Operator.sees_all)
    if not session.scalar(others):
        raise Conflict(
            "last_admin",
            say(
                "%(email)s is the last admin of all congregations; make somebody else "
                "one first.",
                email=operator.email,
            )
            if operator.sees_all
            else say(
                "%(email)s is the last admin; make somebody else an admin first.",
                email=operator.email,
            ),
        )


def _set_congregations(
    session: Session, operator: Operator, congregations: Collection[UUID]
) -> None:
    table = operator_congregations
    session.execute(delete(table).where(table.c.operator_id == operator.id))
    if congregations:
        rows = [
            {"operator_id": operator.id, "congregation_id": congregation_id}
            for congregation_id in congregations
        ]
        session.execute(insert(table), rows)


def _subject(operator: Operator) -> Subject:
    return Subject("operator", str(operator.id))
