"""Sessions kept in the database: ending one ends it, whoever still has the cookie."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from flask import Flask, Request, Response
from flask.globals import request_ctx
from flask.json.tag import TaggedJSONSerializer
from flask.sessions import SessionInterface, SessionMixin
from flask_login.signals import user_logged_in, user_logged_out
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from werkzeug.datastructures import CallbackDict

from dashboard import session_rows
from dashboard.extensions import db
from dashboard.operators.models import Operator, OperatorSession
from tasks.clock import utcnow
from tasks.db import end_reading, glancing

#: How much ``seen_at`` may lag, so that reading pages does not write each time.
SEEN_TO: Final = timedelta(minutes=5)
#: A cookie longer than this is none of ours.
_COOKIE_MAX: Final = 64
#: Paths whose requests need no session: files, and the API that takes tokens only.
WITHOUT_SESSION: Final = ("/static/", "/bootstrap/", "/htmx/", "/api/", "/healthz")

_json: Final = TaggedJSONSerializer()


class ServerSession(CallbackDict[str, Any], SessionMixin):
    """What one browser's session holds during a request."""

    def __init__(self, row: OperatorSession | None = None) -> None:
        def on_update(_changed: CallbackDict[str, Any]) -> None:
            self.modified = True
            self.accessed = True

        super().__init__(_json.loads(row.data) if row else {}, on_update)
        self.modified = False
        self.accessed = False
        self.row = row  # None: it is not in the database yet
        self.ended: str | None = None  # digest of the row that this one replaces
        self.operator_id: UUID | None = row.operator_id if row else None
        self.error: OperationalError | None = None  # it could not be loaded, or saved

    def renew(self, operator_id: UUID | None) -> None:
        """Go on under a new cookie; the old one is worth nothing from then on."""
        if self.row is not None:
            self.ended = self.row.digest
            self.row = None
        self.operator_id = operator_id
        self.modified = True

    def needs_write(self, now: datetime) -> bool:
        """Whether the database must hear of it."""
        if self.error is not None:
            return False
        if self.modified:
            return bool(self) or self.row is not None or self.ended is not None
        return self.row is not None and now - self.row.seen_at > SEEN_TO


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
        try:
            with Session(db.engine, expire_on_commit=False) as session:
                glancing(session)
                row = session_rows.load(session, cookie, utcnow())
                end_reading(session)
                return ServerSession(row)
        except OperationalError as error:
            # Flask cannot answer properly from here; the first step of the request
            # raises it again.
            lost = ServerSession()
            lost.error = error
            return lost

    def is_null_session(self, obj: object) -> bool:
        # None: the request failed before it had one, and an error page is on its way.
        return obj is None or super().is_null_session(obj)

    def save_session(
        self, app: Flask, session: SessionMixin, response: Response
    ) -> None:
        """Write what changed; a session that ended meanwhile stays ended."""
        assert isinstance(session, ServerSession)  # noqa: S101  # narrows the type
        now = utcnow()
        if not session.needs_write(now):
            return
        # What a view left uncommitted is not wanted, and would hold SQLite's only
        # write lock while the lines below wait for it.
        db.session.rollback()
        try:
            with Session(db.engine) as writer, writer.begin():
                cookie = _write(writer, session, now)
        except OperationalError as error:
            session.error = error  # the page that says so is not to try it again
            raise
        if cookie is not None:
            self._give(app, response, cookie)
        elif session.row is None:
            response.delete_cookie(
                self.get_cookie_name(app),
                path=self.get_cookie_path(app),
                secure=self.get_cookie_secure(app),
            )

    def _give(self, app: Flask, response: Response, cookie: str) -> None:
        response.set_cookie(
            self.get_cookie_name(app),
            cookie,
            path=self.get_cookie_path(app),
            secure=self.get_cookie_secure(app),
            httponly=self.get_cookie_httponly(app),
            samesite=self.get_cookie_samesite(app),
        )


def _write(writer: Session, session: ServerSession, now: datetime) -> str | None:
    """Save the session; return the new cookie, if it gets one."""
    if session.ended:
        session_rows.end(writer, session.ended)
    data = _json.dumps(dict(session))
    if session.row is not None:
        session_rows.touch(writer, session.row, data, now)
        return None
    if not session:
        return None
    cookie = secrets.token_urlsafe(32)
    session_rows.add(writer, cookie, data, session.operator_id, now)
    return cookie


def init_app(app: Flask) -> None:
    """Give sessions a new cookie at login and logout; stop when one is unreadable."""
    app.before_request(_check_loaded)
    user_logged_in.connect(_on_login, app)
    user_logged_out.connect(_on_logout, app)


def _check_loaded() -> None:
    if (error := _current().error) is not None:
        raise error


def _on_login(_app: Flask, user: Operator, **_: object) -> None:
    session = _current()
    session.pop("csrf_token", None)  # one from before the login is worth nothing
    session.renew(user.id)


def _on_logout(_app: Flask, **_: object) -> None:
    session = _current()
    session.clear()
    session.renew(None)


def _current() -> ServerSession:
    session = request_ctx.session
    assert isinstance(session, ServerSession)  # noqa: S101  # narrows the type
    return session
