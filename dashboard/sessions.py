"""Sessions kept in the database: ending one ends it, whoever still has the cookie."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from flask import Flask, Request, Response
from flask.json.tag import TaggedJSONSerializer
from flask.sessions import SessionInterface, SessionMixin
from flask_login.signals import user_logged_in, user_logged_out
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session
from werkzeug.datastructures import CallbackDict

from dashboard.extensions import db
from dashboard.operators.models import Operator, OperatorSession
from tasks.clock import utcnow
from tasks.db import reading

#: A session that nobody uses ends after this time.
IDLE: Final = timedelta(hours=8)
#: Every session ends after this time, used or not.
ABSOLUTE: Final = timedelta(days=7)
#: A session without a login: it holds a form's token and nothing else.
ANONYMOUS: Final = timedelta(hours=1)
#: How much ``seen_at`` may lag, so that reading pages does not write each time.
SEEN_TO: Final = timedelta(minutes=5)
#: A cookie of another length is none of ours.
_COOKIE_MAX: Final = 64
#: Paths whose requests need no session: files, and the API that takes tokens only.
WITHOUT_SESSION: Final = ("/static/", "/bootstrap/", "/htmx/", "/api/", "/healthz")

_json: Final = TaggedJSONSerializer()


class ServerSession(CallbackDict[str, Any], SessionMixin):
    """What one browser's session holds during a request."""

    def __init__(self, row: OperatorSession | None = None) -> None:
        def on_update(changed: CallbackDict[str, Any]) -> None:
            self.modified = True
            self.accessed = True

        super().__init__(_json.loads(row.data) if row else {}, on_update)
        self.modified = False
        self.accessed = False
        self.row = row  # None: it is not in the database yet
        self.ended: str | None = None  # digest of the row that this one replaces
        self.operator_id: UUID | None = row.operator_id if row else None

    def renew(self, operator_id: UUID | None) -> None:
        """Go on under a new cookie; the old one is worth nothing from then on."""
        if self.row is not None:
            self.ended = self.row.digest
            self.row = None
        self.operator_id = operator_id
        self.modified = True


class DatabaseSessions(SessionInterface):
    """Loads and saves sessions, each in a short transaction of its own."""

    def open_session(self, app: Flask, request: Request) -> ServerSession:
        """Return the session of the request's cookie, or an empty one."""
        cookie = request.cookies.get(self.get_cookie_name(app), "")
        if (
            not cookie
            or len(cookie) > _COOKIE_MAX
            or request.path.startswith(WITHOUT_SESSION)
        ):
            return ServerSession()
        with Session(db.engine, expire_on_commit=False) as session:
            reading(session)
            row = session.scalar(
                select(OperatorSession).where(
                    OperatorSession.digest == digest_of(cookie),
                    OperatorSession.expires_at > utcnow(),
                )
            )
        return ServerSession(row)

    def is_null_session(self, obj: object) -> bool:
        # None: opening it failed, and an error page is on its way.
        return obj is None or super().is_null_session(obj)

    def save_session(
        self, app: Flask, session: SessionMixin, response: Response
    ) -> None:
        """Write what changed; a session that ended meanwhile stays ended."""
        if not isinstance(session, ServerSession):
            raise TypeError(f"{type(session).__name__} is no session of ours")
        now = utcnow()
        if not _needs_write(session, now):
            return
        # What a view left uncommitted is not wanted, and would hold SQLite's only
        # write lock while the lines below wait for it.
        db.session.rollback()
        with Session(db.engine) as writer, writer.begin():
            if session.ended:
                _delete(writer, session.ended)
            if session.row is not None:
                _update(writer, session, session.row, now)
                return
            cookie = secrets.token_urlsafe(32)
            _insert(writer, session, cookie, now)
        response.set_cookie(
            self.get_cookie_name(app),
            cookie,
            path=self.get_cookie_path(app),
            secure=self.get_cookie_secure(app),
            httponly=self.get_cookie_httponly(app),
            samesite=self.get_cookie_samesite(app),
        )


def digest_of(secret: str) -> str:
    """Return what the database keeps in place of a random secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def end_sessions(
    session: Session, operator_id: UUID, *, but: str | None = None
) -> None:
    """End the sessions of an operator, all or all ``but`` the one with that digest."""
    session.execute(
        delete(OperatorSession).where(
            OperatorSession.operator_id == operator_id,
            OperatorSession.digest != (but or ""),
        )
    )


def watch_logins(app: Flask) -> None:
    """Give a session a new cookie at login and at logout."""
    user_logged_in.connect(_on_login, app)
    user_logged_out.connect(_on_logout, app)


def _on_login(_app: Flask, user: Operator, **_: object) -> None:
    session = _current()
    session.pop("csrf_token", None)  # one from before the login is worth nothing
    session.renew(user.id)


def _on_logout(_app: Flask, **_: object) -> None:
    session = _current()
    session.clear()
    session.renew(None)


def _current() -> ServerSession:
    from flask.globals import request_ctx

    session = request_ctx.session
    assert isinstance(session, ServerSession)  # noqa: S101  # narrows the type
    return session


def _needs_write(session: ServerSession, now: datetime) -> bool:
    if session.modified:
        return bool(session) or session.row is not None or session.ended is not None
    return session.row is not None and now - session.row.seen_at > SEEN_TO


def _expiry(operator_id: UUID | None, created_at: datetime, now: datetime) -> datetime:
    idle = ANONYMOUS if operator_id is None else IDLE
    return min(now + idle, created_at + ABSOLUTE)


def _delete(writer: Session, digest: str) -> None:
    writer.execute(delete(OperatorSession).where(OperatorSession.digest == digest))


def _update(
    writer: Session, session: ServerSession, row: OperatorSession, now: datetime
) -> None:
    writer.execute(
        update(OperatorSession)
        .where(OperatorSession.digest == row.digest)
        .values(
            data=_json.dumps(dict(session)),
            seen_at=now,
            expires_at=_expiry(row.operator_id, row.created_at, now),
        )
    )


def _insert(
    writer: Session, session: ServerSession, cookie: str, now: datetime
) -> None:
    # Nobody else tidies up here, and the index makes this cheap.
    writer.execute(delete(OperatorSession).where(OperatorSession.expires_at < now))
    writer.execute(
        insert(OperatorSession).values(
            digest=digest_of(cookie),
            operator_id=session.operator_id,
            data=_json.dumps(dict(session)),
            created_at=now,
            seen_at=now,
            expires_at=_expiry(session.operator_id, now, now),
        )
    )
