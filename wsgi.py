"""The console as a WSGI application: ``gunicorn wsgi:app``."""

from __future__ import annotations

import os
import sys

from dashboard.app import create_app
from tasks import queue
from tasks.config import EX_CONFIG, Config
from tasks.errors import ConfigError

try:
    config = Config.from_environ(os.environ)
except ConfigError as error:
    sys.stderr.write(f"carillon: {error}\n")
    raise SystemExit(EX_CONFIG) from None

queue.configure(config)  # so that what is committed here rings its lane
app = create_app(config)
