"""Logging in and out: the extension's views, with our form and our limits."""

from __future__ import annotations

import logging
from typing import Any, Final

from flask import Flask, Response, abort, make_response, request
from flask_security import (
    LoginForm,
    Security,
    SQLAlchemyUserDatastore,
    password_changed,
    user_authenticated,
)
from flask_security import views as security_views
from flask_security.utils import validate_redirect_url
from sqlalchemy import bindparam, select
from sqlalchemy.orm import joinedload

from dashboard.config import PASSWORD_MAX
from dashboard.extensions import db, limiter
from dashboard.operators.accounts import spend_links
from dashboard.operators.checks import checked_email
from dashboard.operators.models import Operator, Role
from dashboard.operators.passwords import OperatorPasswords
from dashboard.session_rows import digest_of, end_sessions
from tasks.automation.zones import zone_names
from tasks.errors import InvalidInput
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

logger = logging.getLogger(__name__)

#: Failed logins before an account, or an address, has to wait.
PER_ACCOUNT: Final = "10 per 15 minutes"
PER_ADDRESS: Final = "50 per 15 minutes"


class ExtensionWords:
    """What the extension says: the texts that we show are in ``dashboard.config``."""

    def gettext(self, text: object, **values: object) -> str:
        """Return a text in the present language."""
        return str(text) % values if values else str(text)


class OperatorLoginForm(LoginForm):  # type: ignore[misc]  # it has no types
    """E-mail address and password; there is no "remember me"."""

    # Its cookie would outlive a session that was ended here.
    remember = None

    def validate(self, **kwargs: object) -> bool:
        if not validate_redirect_url(self.next.data):
            self.next.data = ""  # a strange address leads to the overview instead
        if len(self.password.data or "") > PASSWORD_MAX:
            self.password.errors = ["too long to be hashed"]
            return False
        return bool(super().validate(**kwargs))


def _account() -> str:
    typed = request.form.get("email", "")[:320]
    try:
        account = checked_email(typed)  # many spellings of a domain name the same one
    except InvalidInput:
        account = typed.strip().lower()
    # A digest, since what is typed here may be a password by mistake.
    return digest_of(account)


def _wait() -> str:
    return say("Too many failed logins. Wait a quarter of an hour and try again.")


def _has_failed(response: Response) -> bool:
    return response.status_code != 302


@limiter.limit(
    PER_ADDRESS, methods=["POST"], deduct_when=_has_failed, error_message=_wait
)
@limiter.limit(
    PER_ACCOUNT,
    key_func=_account,
    methods=["POST"],
    deduct_when=_has_failed,
    error_message=_wait,
)
def login() -> Response:
    """Show the form or log in; 401 when address or password is wrong."""
    response = make_response(security_views.login())
    if request.method == "POST" and response.status_code == 200:
        response.status_code = 401
        logger.warning("login.failed", extra={"ip": request.remote_addr})
    return response


def _on_login(_app: Flask, user: Operator, **_: object) -> None:
    browsers = request.form.get("timezone", "")
    if user.timezone is None and browsers in zone_names():
        user.timezone = browsers  # until they choose another one
    record(
        db.session(),
        Actor(user.email, request.remote_addr),
        "operator.logged_in",
        Subject("operator", str(user.id)),
        f"{user.email} logged in.",
    )


def _on_password_changed(_app: Flask, user: Operator, **_: object) -> None:
    session = db.session()
    end_sessions(session, user.id)  # this browser's goes on under a new cookie
    spend_links(session, user.id)
    record(
        session,
        Actor(user.email, request.remote_addr),
        "operator.password_changed",
        Subject("operator", str(user.id)),
        f"{user.email} chose a new password.",
    )


def _take_forms_only() -> None:
    """Refuse JSON, whose values the extension's forms take for texts.

    Passwords are asked for by forms, and nobody else has a use for these views.
    """
    if request.blueprint == "security" and request.is_json:
        abort(400)


def _not_here() -> Response:
    """Stand in for a view of the extension that the console has no use for."""
    abort(404)


#: Made once: every request asks who it is.
_BY_SESSION: Final = (
    select(Operator)
    .options(joinedload(Operator.roles))
    .where(Operator.fs_uniquifier == bindparam("fs_uniquifier"))
)


class OperatorStore(SQLAlchemyUserDatastore):  # type: ignore[misc]  # it has no types
    """The extension's way to operators."""

    def find_user(
        self,
        case_insensitive: bool = False,  # the extension's
        **kwargs: Any,  # noqa: ANN401  # one column and its value
    ) -> Operator | None:
        """Return the operator who has the value."""
        if kwargs.keys() == {"fs_uniquifier"} and not case_insensitive:
            return db.session.scalar(_BY_SESSION, kwargs)
        found: Operator | None = super().find_user(case_insensitive, **kwargs)
        return found


def init_app(app: Flask) -> None:
    """Add login, logout and the change of one's password."""
    security = Security(
        app,
        OperatorStore(db, Operator, Role),
        login_form=OperatorLoginForm,
        password_util_cls=OperatorPasswords,
    )
    security.i18n_domain = ExtensionWords()
    security.want_json(lambda _request: False)
    app.view_functions["security.login"] = login
    app.view_functions["security.verify"] = _not_here
    # The extension also takes tokens from headers and addresses; we do not.
    security.login_manager.request_loader(None)
    app.before_request(_take_forms_only)
    user_authenticated.connect(_on_login, app)
    password_changed.connect(_on_password_changed, app)
