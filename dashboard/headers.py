"""The headers that tell browsers what no page of ours ever does."""

from __future__ import annotations

from typing import Final, NoReturn
from urllib.parse import urlsplit

from flask import Flask, Response, abort, current_app, request

from dashboard.config import STATIC_MAX_AGE
from dashboard.web import READS
from tasks.outbound.unsubscribing import PATH as UNSUBSCRIBE
from tasks.saying import say

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",  # Bootstrap's checkbox marks are data addresses
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "frame-src 'self'",  # previews of mails, each sandboxed by its own policy
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
#: Addresses whose callers prove themselves without cookies: by a token, by the link.
_OWN_PROOF: Final = ("/api/", UNSUBSCRIBE)
#: What browsers may keep if they ask each time whether it is still the same.
_OWN_CACHING: Final = frozenset({"board.thumbnail"})
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}


def _protect(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)  # a mail's frame has brought its own
    if current_app.config["SESSION_COOKIE_SECURE"]:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    endpoint = request.endpoint or ""
    if endpoint in _OWN_CACHING and response.status_code in {200, 304}:
        response.vary.update(("Cookie",))
    elif not (endpoint == "static" or endpoint.endswith(".static")):
        response.headers["Cache-Control"] = "no-store"
        response.vary.update(("Cookie", "HX-Request"))
    elif "v" in request.args and response.status_code in {200, 304}:
        # The address carries the content's hash: it never means anything else.
        response.headers["Cache-Control"] = (
            f"public, max-age={STATIC_MAX_AGE}, immutable"
        )
    return response


def _refuse_foreign_pages() -> None:
    """Refuse a change that another site's page asks this browser to make."""
    if request.method in READS or request.path.startswith(_OWN_PROOF):
        return
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {
        "same-origin",
        "none",
    }:
        _refuse_foreign()
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        _refuse_foreign()


def _refuse_foreign() -> NoReturn:
    sentence = say("This form was sent from another site. Open it here and try again.")
    abort(403, sentence)


def init_app(app: Flask) -> None:
    """Guard every answer, also those of errors and files."""
    app.before_request(_refuse_foreign_pages)
    app.after_request(_protect)
