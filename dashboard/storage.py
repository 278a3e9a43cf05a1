"""The storage of files, made once for each web process."""

from __future__ import annotations

from typing import Final

from flask import current_app

from tasks.storage import Storage, make_storage

KEY: Final = "carillon_storage"


def storage() -> Storage:
    """Return where files are kept; never use it while a transaction may write.

    SQLite has one writer: whoever uploads slowly would hold up everybody else.
    """
    made: Storage | None = current_app.extensions.get(KEY)
    if made is None:
        made = make_storage(current_app.config["CARILLON"])
        current_app.extensions[KEY] = made
    return made
