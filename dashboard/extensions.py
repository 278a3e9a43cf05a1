"""The Flask extensions, made once and bound to the app by ``create_app``."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask_bootstrap import Bootstrap5
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as BoundSession
from flask_wtf.csrf import CSRFProtect
from sqlalchemy import Engine
from sqlalchemy.engine import make_url

from tasks.config import Config
from tasks.db import CongregationSession, make_engine
from tasks.models import Base


class ConsoleSession(CongregationSession, BoundSession):
    """The session of a request: sees only the congregations set for the operator."""


class Database(SQLAlchemy):
    """Flask-SQLAlchemy with the engine that the worker uses as well."""

    def _make_engine(
        self, bind_key: str | None, options: dict[str, Any], app: Flask
    ) -> Engine:
        config: Config = app.config["CARILLON"]
        return make_engine(make_url(options["url"]), loop_rate=config.loop_rate)


db = Database(
    metadata=Base.metadata,
    session_options={"class_": ConsoleSession, "expire_on_commit": False},
)
csrf = CSRFProtect()
bootstrap = Bootstrap5()
#: Counts failed logins: in Redis when there is one, else in each web process.
limiter = Limiter(get_remote_address, default_limits=[])
