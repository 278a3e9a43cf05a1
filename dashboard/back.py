"""Back to where a button was pressed."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import redirect, request, url_for
from flask.typing import ResponseReturnValue


def back(endpoint: str, **values: object) -> ResponseReturnValue:
    """Redirect to the page of ours that sent the request, else to ``endpoint``.

    Pages about one row also get their buttons from lists, whose filter and place
    should not be lost.
    """
    target = came_from()
    if target is None:
        target = url_for(endpoint, **values)  # type: ignore[arg-type]  # url_for names its own parameters too
    return redirect(target, 303)


def came_from() -> str | None:
    """Return the address of the page of ours that sent the request; None: of none."""
    try:
        page = urlsplit(request.referrer or "")
    except ValueError:  # browsers send no such address
        return None
    is_ours = page.netloc == request.host and page.path.startswith("/")
    if not is_ours or page.path.startswith(("//", "/\\")):
        return None
    return page.path + (f"?{page.query}" if page.query else "")
