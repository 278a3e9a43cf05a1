"""Links in templates: an address is built once for its kind, not for each row.

A full list has some hundred links, and building them was a tenth of its time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import flask
from flask import Flask, has_request_context, request
from werkzeug.routing import BuildError

#: What is written into an address as it is (RFC 3986, "unreserved").
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~-]+")
#: Stands for one value while a pattern is made; no address of ours has it.
_MARK: Final = "value-of-{}-"
_STATIC: Final = "static"
#: More than all kinds of links in all templates.
_KEPT: Final = 2_000


def url_for(endpoint: str, /, **values: Any) -> str:  # noqa: ANN401  # any route's
    """Return what Flask's ``url_for`` returns, for ids mostly without asking it.

    Files are left to Flask, which adds their versions, and so is what depends on the
    present blueprint, on the kind of a value, or needs quoting.
    """
    if not (has_request_context() and _is_usual(endpoint, values)):
        return flask.url_for(endpoint, **values)
    pattern = _pattern(request.script_root, endpoint, tuple(values))
    if pattern is None:
        return flask.url_for(endpoint, **values)
    return pattern % values


def _is_usual(endpoint: str, values: dict[str, Any]) -> bool:
    if endpoint.startswith(".") or endpoint.endswith(_STATIC):
        return False
    return all(
        isinstance(value, UUID) or (isinstance(value, str) and _PLAIN.fullmatch(value))
        for value in values.values()
    )


@lru_cache(_KEPT)
def _pattern(_root: str, endpoint: str, names: tuple[str, ...]) -> str | None:
    """Return an address with a place for each value; None: the values matter.

    Args:
        _root: where the console is mounted, as every address begins; the cache's key.
    """
    if any(name.startswith("_") for name in names):
        return None  # Flask's own: _external, _anchor
    marks: dict[str, Any] = {name: _MARK.format(name) for name in names}
    try:
        made = flask.url_for(endpoint, **marks)
    except (BuildError, ValueError):
        return None  # a number is wanted, or one of some words
    pattern = made.replace("%", "%%")
    for name, mark in marks.items():
        pattern = pattern.replace(mark, f"%({name})s")
    return pattern


def init_app(app: Flask) -> None:
    """Let templates link this way."""
    app.jinja_env.globals.update(url_for=url_for)
