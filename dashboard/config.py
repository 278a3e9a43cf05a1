"""The settings of Flask and its extensions, made from ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from tasks.config import Config
from tasks.saying import later

#: Bytes of one request to a page; a rule's e-mail is by far the largest form.
BODY_LIMIT: Final = 1_048_576
#: The least that is recommended for argon2id: 19 MiB, two passes, one lane.
ARGON2: Final[dict[str, int]] = {
    "time_cost": 2,
    "memory_cost": 19_456,
    "parallelism": 1,
}
PASSWORD_MIN: Final = 12
#: Longer ones are refused before they are hashed, since hashing takes time.
PASSWORD_MAX: Final = 1_024
#: How long browsers keep a file whose address carries its version, in seconds.
STATIC_MAX_AGE: Final = 31_536_000
#: What the forms of the login extension say.
_LOGIN_ERRORS: Final = {
    "GENERIC_AUTHN_FAILED": later("Wrong e-mail address or password."),
    "INVALID_PASSWORD": later("Invalid password"),
    "PASSWORD_NOT_PROVIDED": later("Password not provided"),
    "PASSWORD_IS_THE_SAME": later(
        "Your new password must be different than your previous password."
    ),
    "RETYPE_PASSWORD_MISMATCH": later("Passwords do not match"),
}


def flask_settings(config: Config) -> Mapping[str, Any]:
    """Return everything that Flask and its extensions are to know."""
    is_secure = config.base_url.startswith("https://")
    return {
        "CARILLON": config,
        "SECRET_KEY": config.secret_key,
        "TRUSTED_HOSTS": _trusted_hosts(config),
        "MAX_CONTENT_LENGTH": BODY_LIMIT,
        "MAX_FORM_PARTS": 500,
        "PREFERRED_URL_SCHEME": urlsplit(config.base_url).scheme,
        # The prefix makes browsers refuse the cookie from other hosts and over http.
        "SESSION_COOKIE_NAME": "__Host-session" if is_secure else "session",
        "SESSION_COOKIE_SECURE": is_secure,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_PATH": "/",
        "PERMANENT_SESSION_LIFETIME": timedelta(days=7),
        "SQLALCHEMY_DATABASE_URI": config.database_url,
        "BOOTSTRAP_SERVE_LOCAL": True,
        "WTF_CSRF_TIME_LIMIT": None,  # as long as the session that holds it
        # Our own check of Origin and Sec-Fetch-Site also holds without a Referer.
        "WTF_CSRF_SSL_STRICT": False,
        "RATELIMIT_STORAGE_URI": config.redis_url or "memory://",
        "RATELIMIT_STRATEGY": "fixed-window",
        "RATELIMIT_HEADERS_ENABLED": True,
        # Without Redis each process counts for itself: a login still works.
        "RATELIMIT_IN_MEMORY_FALLBACK_ENABLED": True,
        **_login_settings(config),
    }


def _trusted_hosts(config: Config) -> list[str]:
    host = urlsplit(config.base_url).hostname or "localhost"
    return [host, "localhost", "127.0.0.1"]


def _login_settings(config: Config) -> Mapping[str, Any]:
    return {
        # A salt that all passwords share adds nothing: argon2 salts each of its own,
        # and with "single hash" a changed secret key does not lock everybody out.
        "SECURITY_PASSWORD_SALT": config.secret_key,
        "SECURITY_PASSWORD_HASH": "argon2",
        "SECURITY_PASSWORD_SCHEMES": ["argon2"],
        "SECURITY_PASSWORD_SINGLE_HASH": ["argon2"],
        "SECURITY_PASSWORD_HASH_PASSLIB_OPTIONS": {
            f"argon2__{name}": value for name, value in ARGON2.items()
        },
        "SECURITY_PASSWORD_LENGTH_MIN": PASSWORD_MIN,
        "SECURITY_RETURN_GENERIC_RESPONSES": True,
        "SECURITY_EMAIL_VALIDATOR_ARGS": {"check_deliverability": False},
        "SECURITY_CHANGEABLE": True,
        "SECURITY_CHANGE_URL": "/account/password",
        "SECURITY_SEND_PASSWORD_CHANGE_EMAIL": False,
        "SECURITY_LOGIN_USER_TEMPLATE": "security/login.html",
        "SECURITY_CHANGE_PASSWORD_TEMPLATE": "security/password.html",
        "SECURITY_POST_LOGOUT_VIEW": "/login",
        "SECURITY_API_ENABLED_METHODS": ["session"],
        **{
            f"SECURITY_MSG_{name}": (sentence, "error")
            for name, sentence in _LOGIN_ERRORS.items()
        },
        "SECURITY_MSG_PASSWORD_CHANGE": (
            later("Your password is changed. Your other sessions have ended."),
            "success",
        ),
    }
