"""What every request and every page has: an id, a fragment, files with a version."""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
import time
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import flask_bootstrap
from flask import (
    Flask,
    Response,
    abort,
    current_app,
    g,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.templating import Environment
from jinja2.ext import Extension
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from dashboard.extensions import db
from dashboard.paging import Page
from tasks.db import end_reading, reading

logger = logging.getLogger(__name__)

#: Methods that only read: their transaction never waits for a writer on SQLite.
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_ICONS: Final = (
    Path(flask_bootstrap.__file__).parent
    / "static/bootstrap5/icons/bootstrap-icons.svg"
)


class Pages(Environment):
    """Templates that share one table of globals.

    Jinja lays a table of its own over it for each template, and compares the two at
    every include and import: on a page of fifty rows that was a fifth of the time.
    """

    def make_globals(
        self, d: MutableMapping[str, Any] | None
    ) -> MutableMapping[str, Any]:
        """Return what all templates know; ``d`` is what only one of them would."""
        return super().make_globals(d) if d else self.globals


class Unindented(Extension):
    """Leaves out what indents templates: four kilobytes of a long page."""

    #: What stays as it is, since white space is text there; else what indents a line.
    _INDENTS = re.compile(r"(<(pre|textarea)\b.*?</\2>)|\n[ \t]+", re.DOTALL)

    def preprocess(
        self, source: str, name: str | None, filename: str | None = None
    ) -> str:
        """Return the source of a template whose lines begin with one space at most.

        One space stays: a line break after a tag of Jinja goes, and with it would go
        what keeps two words apart.
        """
        if not (name or "").endswith(".html"):
            return source
        return self._INDENTS.sub(lambda found: found[1] or "\n ", source)


def is_htmx() -> bool:
    """Whether htmx asks for a part of a page; a boosted link asks for the whole."""
    return "HX-Request" in request.headers and "HX-Boosted" not in request.headers


def render(template: str, *, fragment: str | None = None, **values: object) -> str:
    """Return a page; for htmx only its ``fragment``, if it has one.

    The page includes the same fragment, so neither is written twice.  A page of a list
    whose rows are gone by now leads to the list's start: what it said of an empty list
    would not be so.
    """
    is_gone = isinstance(page := values.get("page"), Page) and not page.rows
    if is_gone and request.method in READS and "cursor" in request.args:
        abort(redirect(url_with(cursor=None), 303))
    if fragment is not None and is_htmx():
        return render_template(fragment, **values)
    return render_template(template, **values)


#: What is not a page's own: the switcher's word, and what ``url_for`` itself takes.
_OWN: Final = frozenset({"congregation", "endpoint", "values"})


def url_with(**changes: str | int | None) -> str:
    """Return this page's address with some query values changed; None removes one."""
    values = {
        name: values
        for name, values in request.args.lists()
        if name not in changes and name not in _OWN and not name.startswith("_")
    }
    changed = {name: value for name, value in changes.items() if value is not None}
    endpoint, names = _asked()
    return url_for(endpoint, **{**names, **values, **changed})


def _asked() -> tuple[str, Mapping[str, Any]]:
    """Return the endpoint of the page that is shown, and what its address names.

    A refused verb shows the page of its noun, ``POST /lanes/rescue/workers`` that of
    ``/lanes/rescue``: the nearest address above that can be asked for.
    """
    found = request.endpoint or "", request.view_args or {}
    urls = current_app.create_url_adapter(request)
    if request.method in READS or urls is None:
        return found
    parts = request.path.rstrip("/").split("/")
    for n in range(len(parts), 0, -1):
        path = "/".join(parts[:n])
        for each in (path, f"{path}/"):
            with suppress(HTTPException):  # nothing is read there
                return urls.match(each, method="GET")
    return found


@lru_cache(maxsize=1)
def _icon_shapes() -> dict[str, str]:
    """Return the shapes of every Bootstrap icon by name."""
    sprite = _ICONS.read_text(encoding="utf-8")
    found = re.findall(
        r'<symbol[^>]*\bid="([\w-]+)"[^>]*>(.*?)</symbol>', sprite, re.DOTALL
    )
    return {name: re.sub(r"\s+", " ", shape).strip() for name, shape in found}


#: Icons that may stand in every row of a list.  Their shapes are sent once a page: of
#: a long list they were half.
_IN_ROWS: Final = frozenset(
    {
        *("arrow-repeat", "bookmark", "box-arrow-up-right", "calendar-event"),
        *("check-lg", "clock", "dash-lg", "envelope", "hourglass-split"),
        *("play", "slash-circle", "x-lg"),
    }
)


@lru_cache
def icon(name: str) -> Markup:
    """Return a Bootstrap icon, drawn inline: one page needs ten of two thousand.

    Raises:
        KeyError: Bootstrap has no such icon.
    """
    if name in _IN_ROWS:
        drawn = f'aria-hidden="true"><use href="#icon-{name}"/>'
    else:
        drawn = f'viewBox="0 0 16 16" aria-hidden="true">{_icon_shapes()[name]}'
    return Markup(f'<svg class="icon" {drawn}</svg>')  # noqa: S704  # a package's file


@lru_cache
def row_icons() -> Markup:
    """Return the shapes that icons in rows refer to; stands once in each page."""
    shapes = (
        f'<symbol id="icon-{name}" viewBox="0 0 16 16">{_icon_shapes()[name]}</symbol>'
        for name in sorted(_IN_ROWS)
    )
    drawn = f'<svg class="icon" aria-hidden="true">{"".join(shapes)}</svg>'
    return Markup(f"<div hidden>{drawn}</div>")  # noqa: S704  # as above


def _versioned(folder: str, filename: str) -> str | None:
    """Return the hash of a file's content; None: there is no such file."""
    path = Path(folder) / filename
    return _version(path, path.stat().st_mtime) if path.is_file() else None


@lru_cache(maxsize=256)
def _version(path: Path, _changed: float) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


#: Outside of development files change with a new start only.
_known_version: Final = lru_cache(maxsize=256)(_versioned)


def _add_version(endpoint: str, values: dict[str, Any]) -> None:
    """Put the content's hash into the address of a file, so it may be kept for ever."""
    if not (endpoint == "static" or endpoint.endswith(".static")):
        return
    blueprint = endpoint.rpartition(".")[0]
    owner = current_app.blueprints[blueprint] if blueprint else current_app
    find = _versioned if current_app.debug else _known_version
    version = find(owner.static_folder or "", values.get("filename", ""))
    if version is not None:
        values["v"] = version


def _begin() -> None:
    g.request_id = secrets.token_hex(8)
    g.started = time.monotonic()
    # Reading a list must not take SQLite's only write lock.
    if request.method in READS and not _is_file() and request.blueprint != "api":
        g.only_reads = True
        reading(db.session())


def _end(error: BaseException | None) -> None:
    # Also after what is streamed.
    if error is None and g.get("only_reads"):
        end_reading(db.session())


def _is_file() -> bool:
    endpoint = request.endpoint or ""
    return endpoint == "static" or endpoint.endswith(".static")


def _finish(response: Response) -> Response:
    if "request_id" not in g:  # the request failed before it began
        g.request_id = secrets.token_hex(8)
    response.headers["X-Request-ID"] = g.request_id
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        g.only_reads = False  # the connection may be gone
    if not _is_file():
        logger.info(
            "request.done",
            extra={
                "request_id": g.request_id,
                "method": request.method,
                "endpoint": request.endpoint,
                "status": response.status_code,
                "seconds": round(time.monotonic() - g.get("started", 0.0), 4),
            },
        )
    return response


def init_app(app: Flask) -> None:
    """Give every request its id and its transaction, and pages their helpers."""
    app.before_request(_begin)
    app.after_request(_finish)
    app.teardown_request(_end)
    app.url_defaults(_add_version)
    app.jinja_env.globals.update(
        url_with=url_with, icon=icon, row_icons=row_icons, is_htmx=is_htmx
    )
    app.jinja_env.add_extension(Unindented)
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
