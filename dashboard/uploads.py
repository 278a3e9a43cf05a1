"""Room for files: some addresses take more than a page's form needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Final, cast

from flask import Blueprint, abort, current_app, g, redirect, request, session, url_for

from tasks.config import Config
from tasks.errors import InvalidInput
from tasks.saying import say

#: How large a file may be, by the settings.
Limit = Callable[[Config], int]
#: A file of up to so many times its limit is read to its end and refused in words; a
#: browser that is cut off in the middle shows no words at all.
PATIENCE: Final = 2
#: What a form may hold beside its file, in bytes.
BESIDE: Final = 65_536


def take_files(bp: Blueprint, limits: Mapping[str, Limit]) -> None:
    """Let some endpoints of a blueprint take files, from operators who are logged in.

    The file is kept on the disk while it comes, never in memory.

    Args:
        limits: endpoint, with the blueprint's name -> the largest file.
    """

    @bp.url_value_preprocessor
    def make_room(endpoint: str | None, _values: dict[str, Any] | None) -> None:
        # Before anything reads the form, and that is the check of its token.
        limit = limits.get(endpoint or "")
        if limit is None or request.method != "POST":
            return
        if getattr(session, "operator_id", None) is None:
            abort(redirect(url_for("security.login"), 303))
        most = limit(current_app.config["CARILLON"])
        g.file_limit = most
        request.max_content_length = most * PATIENCE + BESIDE


def uploaded(field: str = "file") -> tuple[str, BinaryIO]:
    """Return an uploaded file's name and its content, which can seek.

    Raises:
        InvalidInput: there is none.
    """
    file = request.files.get(field)
    if file is None or not file.filename:
        raise InvalidInput("required", say("Choose a file."), field=field)
    return file.filename, cast("BinaryIO", file.stream)
