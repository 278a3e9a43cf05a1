"""The HTML of a mail as a frame shows it: no scripts, no forms, nothing fetched."""

from __future__ import annotations

from typing import Final

from flask import Response

#: The page around it stays strict; in here a mail's own styles may work, and only they.
_POLICY: Final = "; ".join(
    (
        "sandbox",
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)


def mail_frame(html: str) -> Response:
    """Return a mail's HTML for an ``<iframe sandbox>`` of our own pages."""
    response = Response(html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response
