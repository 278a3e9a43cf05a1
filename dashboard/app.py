"""The console as an application: its pages, its API, and what every request has."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import js_lib_htmx  # type: ignore[import-untyped]  # one constant of it is used
from flask import Blueprint, Flask
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI
from sqlalchemy import text
from werkzeug.middleware.proxy_fix import ProxyFix

from dashboard import (
    ROOT,
    causes,
    errors,
    event_titles,
    filters,
    headers,
    languages,
    links,
    navigation,
    scope,
    security,
    sessions,
    template_words,
    told,
    web,
    zones,
)
from dashboard.config import flask_settings
from dashboard.extensions import bootstrap, csrf, db, limiter
from dashboard.operators import login
from tasks.automation import actions
from tasks.config import Config
from tasks.operations.lane_starts import startable

#: Every folder of pages; each has a blueprint ``bp`` of the same name.
PAGES: Final = (
    "overview",
    "executions",
    "failures",
    "scheduled",
    "agenda",
    "budgets",
    "search",
    "exports",
    "saved_views",
    "events",
    "rules",
    "why",
    "waiting",
    "operations",
    "holds",
    "lanes",
    "congregations",
    "notifications",
    "transfers",
    "members",
    "addresses",
    "groups",
    "territories",
    "campaigns",
    "board",
    "retention",
    "suppressions",
    "outreach",
    "unsubscribe",
    "tokens",
    "operators.views",
    "account",
    "styleguide",
    "setup",
    "sources",
    "webhooks",
    "hooks",
    "cron",
    "audit",
    "api",
)


def create_app(config: Config) -> Flask:
    """Return the console; the database is not touched before the first request."""
    app = OpenAPI(
        __name__,
        info=Info(title="Carillon", version="1"),
        doc_ui=False,
        static_folder=str(ROOT / "static"),
        template_folder=str(ROOT / "templates"),
    )
    # Two slashes are another address: no answer of the API leads elsewhere.
    app.url_map.merge_slashes = False
    app.jinja_environment = web.Pages
    app.config.from_mapping(flask_settings(config))
    # Rules are checked by what this installation allows.
    actions.configure(config, startable())
    if config.proxy_hops:  # without proxies anybody could write these headers
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # the way Flask means it
            app.wsgi_app, x_for=config.proxy_hops, x_proto=config.proxy_hops
        )
    app.session_interface = sessions.DatabaseSessions()
    db.init_app(app)
    bootstrap.init_app(app)
    limiter.init_app(app)
    # The order of what happens before a request is the order of these lines.
    web.init_app(app)
    sessions.init_app(app)
    languages.init_app(app)
    links.init_app(app)
    template_words.init_app(app)
    headers.init_app(app)
    csrf.init_app(app)
    login.init_app(app)
    security.init_app(app)
    scope.init_app(app)
    errors.init_app(app)
    filters.init_app(app)
    told.init_app(app)
    causes.init_app(app)
    event_titles.init_app(app)
    zones.init_app(app)
    navigation.init_app(app)
    app.register_blueprint(_htmx())
    app.add_url_rule("/healthz", "healthz", healthz)
    for name in PAGES:
        _add_pages(app, name)
    return app


def _add_pages(app: OpenAPI, name: str) -> None:
    bp: Blueprint = import_module(f"dashboard.{name}").bp
    if isinstance(bp, APIBlueprint):
        csrf.exempt(bp)  # it takes tokens, never cookies
        app.register_api(bp)
    else:
        app.register_blueprint(bp)


def _htmx() -> Blueprint:
    """Serve htmx from the package that brings it."""
    folder = Path(js_lib_htmx.__file__).parent / "static" / "htmx"
    return Blueprint(
        "htmx", __name__, static_folder=str(folder), static_url_path="/htmx"
    )


def healthz() -> dict[str, str]:
    """Answer that pages and database work; an error page says that they do not."""
    db.session().execute(text("SELECT 1"))
    return {"status": "ok"}
