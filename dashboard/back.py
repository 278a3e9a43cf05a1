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
    came_from = urlsplit(request.referrer or "")
    target = came_from.path + (f"?{came_from.query}" if came_from.query else "")
    is_ours = came_from.netloc == request.host and came_from.path.startswith("/")
    if not is_ours or came_from.path.startswith(("//", "/\\")):
        target = url_for(endpoint, **values)  # type: ignore[arg-type]  # url_for names its own parameters too
    return redirect(target, 303)
