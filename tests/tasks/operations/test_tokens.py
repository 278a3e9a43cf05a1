"""API tokens: shown once, kept as a digest, refused for a reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.db import sessions
from tasks.errors import InvalidInput, NotFound
from tasks.models import ApiToken, AuditEntry, Congregation
from tasks.operations.audit import Actor
from tasks.operations.token_text import lookup_of, new_plaintext
from tasks.operations.tokens import (
    SCOPES,
    Refusal,
    authenticate,
    create_token,
    is_use_stale,
    note_use,
    revoke_token,
)

ADA = Actor("ada@example.org", "127.0.0.1")


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    with sessions(engine).begin() as opened:
        yield opened


@pytest.fixture
def congregation_id(session: Session) -> UUID:
    congregation = Congregation(slug="st-anna", name="St Anna")
    session.add(congregation)
    session.flush()
    return congregation.id


@pytest.fixture
def made(
    session: Session, congregation_id: UUID, now: datetime
) -> tuple[ApiToken, str]:
    return create_token(
        session, congregation_id, " Website ", list(SCOPES), None, ADA, now=now
    )


def test_a_new_token_opens_the_door(
    session: Session, made: tuple[ApiToken, str], now: datetime
) -> None:
    token, plaintext = made
    assert authenticate(session, plaintext, now) is token
    assert token.name == "Website"
    assert plaintext.startswith(f"crl_{token.lookup}_")
    assert plaintext.endswith(token.last4)


def test_the_plain_text_is_kept_nowhere(
    session: Session, made: tuple[ApiToken, str]
) -> None:
    token, plaintext = made
    secret = plaintext.split("_")[2]
    entry = session.scalars(select(AuditEntry)).one()
    kept = [str(value) for row in (token, entry) for value in vars(row).values()]
    assert all(secret not in value for value in kept)


def test_making_and_revoking_are_audited(
    session: Session, made: tuple[ApiToken, str], now: datetime
) -> None:
    revoke_token(session, made[0].id, ADA, now=now)
    revoke_token(session, made[0].id, ADA, now=now)
    entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [entry.action for entry in entries] == ["token.created", "token.revoked"]
    assert {entry.actor for entry in entries} == {"ada@example.org"}


def test_a_revoked_token_is_refused(
    session: Session, made: tuple[ApiToken, str], now: datetime
) -> None:
    revoke_token(session, made[0].id, ADA, now=now)
    assert authenticate(session, made[1], now) is Refusal.REVOKED


def test_an_expired_token_is_refused(
    session: Session, congregation_id: UUID, now: datetime
) -> None:
    until = now + timedelta(days=1)
    _, plaintext = create_token(
        session, congregation_id, "CI", ["events:write"], until, ADA, now=now
    )
    assert isinstance(authenticate(session, plaintext, now), ApiToken)
    assert authenticate(session, plaintext, until) is Refusal.EXPIRED


def test_another_secret_with_the_same_lookup_is_refused(
    session: Session, made: tuple[ApiToken, str], now: datetime
) -> None:
    stranger = new_plaintext()[1]
    assert authenticate(session, stranger, now) is Refusal.INVALID
    made[0].lookup = lookup_of(stranger) or ""
    session.flush()
    assert authenticate(session, stranger, now) is Refusal.INVALID


@pytest.mark.parametrize(
    "text",
    ["", "crl_", "Bearer x", "crl_" + "A" * 10_000, "crl_äöü_x", "\0", "x" * 66],
)
def test_what_cannot_be_a_token_is_refused(
    session: Session, text: str, now: datetime
) -> None:
    assert authenticate(session, text, now) is Refusal.INVALID


def test_a_mistyped_token_is_known_without_a_database() -> None:
    lookup, plaintext = new_plaintext()
    assert lookup_of(plaintext) == lookup
    swapped = "A" if plaintext[-10] != "A" else "B"
    assert lookup_of(plaintext[:-10] + swapped + plaintext[-9:]) is None


def test_the_use_is_noted_to_the_minute_and_never_moves_back(
    session: Session, made: tuple[ApiToken, str], now: datetime
) -> None:
    token = made[0]
    note_use(session, token.id, now + timedelta(seconds=90))
    note_use(session, token.id, now)
    session.refresh(token)
    assert token.last_used_at == now + timedelta(minutes=1)
    assert not is_use_stale(token, now + timedelta(seconds=100))
    assert is_use_stale(token, now + timedelta(minutes=2))


@pytest.mark.parametrize(
    ("name", "scopes", "days", "code"),
    [
        ("  ", ["events:write"], None, "name_required"),
        ("x" * 121, ["events:write"], None, "too_long"),
        ("a\u202eb", ["events:write"], None, "control_chars"),
        ("a\nb", ["events:write"], None, "control_chars"),
        ("x", [], None, "scope_required"),
        ("x", ["admin:all"], None, "unknown_scope"),
        ("x", ["events:write"], 0, "expiry_in_past"),
    ],
)
def test_a_bad_wish_is_refused_with_a_reason(
    session: Session,
    congregation_id: UUID,
    now: datetime,
    name: str,
    scopes: list[str],
    days: int | None,
    code: str,
) -> None:
    until = None if days is None else now + timedelta(days=days)
    with pytest.raises(InvalidInput) as refused:
        create_token(session, congregation_id, name, scopes, until, ADA, now=now)
    assert refused.value.code == code


def test_a_token_of_nobody_is_not_found(session: Session, now: datetime) -> None:
    with pytest.raises(NotFound):
        create_token(session, uuid4(), "x", ["events:write"], None, ADA, now=now)
    with pytest.raises(NotFound):
        revoke_token(session, uuid4(), ADA)
